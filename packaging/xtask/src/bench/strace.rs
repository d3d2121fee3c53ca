//! strace at the service: counting its syncs, and slowing them down.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use koru_tests::support::service::{Signal, signal};

const SYNCS: &str = "fdatasync,fsync";

/// strace, attached to a process until it is dropped or asked.
pub(super) struct Strace {
    child: Child,
    report: PathBuf,
}

impl Strace {
    /// Counts the syncs of a process, each slowed down by so much.
    pub(super) fn attach(
        pid: u32,
        folder: &std::path::Path,
        delay: Duration,
    ) -> Result<Self, String> {
        let report = folder.join("strace");
        let _ = std::fs::remove_file(&report);
        let mut command = Command::new("strace");
        command.args(["-f", "-qq", "-e", &format!("trace={SYNCS}")]);
        if !delay.is_zero() {
            let inject = format!("inject={SYNCS}:delay_enter={}", delay.as_micros());
            command.args(["-e", &inject]);
        }
        command.arg("-o").arg(&report).args(["-p", &pid.to_string()]);
        let child = command
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut strace = Self { child, report };
        strace.wait_until_attached(pid)?;
        Ok(strace)
    }

    fn wait_until_attached(&mut self, pid: u32) -> Result<(), String> {
        let deadline = Instant::now() + Duration::from_secs(10);
        while !all_traced(pid) {
            if self.child.try_wait().is_ok_and(|status| status.is_some()) {
                return Err("strace ended: tracing is not allowed here".into());
            }
            if Instant::now() > deadline {
                return Err("strace does not attach".into());
            }
            std::thread::park_timeout(Duration::from_millis(5));
        }
        Ok(())
    }

    /// How many syncs there were so far.
    pub(super) fn syncs(&self) -> usize {
        let report = std::fs::read_to_string(&self.report).unwrap_or_default();
        report.lines().filter(|line| line.contains("sync(") && !line.contains("resumed>")).count()
    }
}

impl Drop for Strace {
    fn drop(&mut self) {
        signal(self.child.id(), Signal::Interrupt);
        let _ = self.child.wait();
    }
}

/// Whether every thread of the process is traced.
fn all_traced(pid: u32) -> bool {
    let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return false };
    threads.filter_map(Result::ok).all(|thread| {
        let status = std::fs::read_to_string(thread.path().join("status")).unwrap_or_default();
        status.lines().any(|line| line.starts_with("TracerPid:") && !line.ends_with("\t0"))
    })
}
