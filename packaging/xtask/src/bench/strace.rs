//! The service under strace: counting its syncs, and slowing them down.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use koru_tests::support::home::Home;
use koru_tests::support::service::hello;
use koru_tests::support::until;

const SYNCS: &str = "fdatasync,fsync";

/// A home's service under strace, until it is dropped.
///
/// It is started so, not attached to: then a filter in the kernel (`--seccomp-bpf`) stops it at its
/// syncs alone, and everything else runs at full speed.
pub(super) struct Traced<'home> {
    home: &'home Home,
    child: Child,
    report: PathBuf,
}

impl<'home> Traced<'home> {
    /// Starts the service anew, each of its syncs slowed down by so much.
    pub(super) fn start(home: &'home Home, delay: Duration) -> Result<Self, String> {
        home.stop_service();
        let report = home.beside().join("strace");
        let _ = std::fs::remove_file(&report);
        let mut command = Command::new("strace");
        home.clear(&mut command);
        command.args(["-f", "--seccomp-bpf", "-qq", "-e", &format!("trace={SYNCS}")]);
        if !delay.is_zero() {
            let inject = format!("inject={SYNCS}:delay_enter={}", delay.as_micros());
            command.args(["-e", &inject]);
        }
        command.arg("-o").arg(&report).arg(&home.programs().service);
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(|error| error.to_string())?;
        let mut traced = Self { home, child, report };
        until("the service under strace", || {
            let ended = traced.child.try_wait().is_ok_and(|status| status.is_some());
            (ended || hello(home.path()).is_some()).then_some(())
        });
        if hello(home.path()).is_none() {
            return Err("strace ended: tracing is not allowed here".into());
        }
        Ok(traced)
    }

    /// How many syncs there were so far.
    pub(super) fn syncs(&self) -> usize {
        let report = std::fs::read_to_string(&self.report).unwrap_or_default();
        report.lines().filter(|line| line.contains("sync(") && !line.contains("resumed>")).count()
    }
}

impl Drop for Traced<'_> {
    fn drop(&mut self) {
        // strace ends with what it traces.
        self.home.stop_service();
        let _ = self.child.wait();
    }
}
