//! The service as a process: its hello, its process IDs, and signals.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::time::{Duration, Instant};

use koru_model::protocol::home::{HOME_VARIABLE, Home as Folders};
use koru_model::protocol::wire::{self, Hello};

/// What a test may send to a process that it started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Ask for the end.
    Terminate,
    /// End at once.
    Kill,
    /// Stand still.
    Stop,
    /// Go on.
    Continue,
    /// What Ctrl-C sends.
    Interrupt,
}

/// What the service of a home says first; none where nobody answers.
#[cfg(unix)]
#[must_use]
pub fn hello(home: &Path) -> Option<Hello> {
    let socket = Folders::under(home, None).socket;
    let mut stream = std::os::unix::net::UnixStream::connect(socket).ok()?;
    stream.set_read_timeout(Some(Duration::from_secs(2))).ok()?;
    stream.write_all(&wire::frame(&Hello::of_this_build()).ok()?).ok()?;
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut body = vec![0; usize::try_from(u32::from_be_bytes(length)).ok()?.min(1 << 20)];
    stream.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}

/// The processes that run `koru-service` for this home.
#[cfg(target_os = "linux")]
#[must_use]
pub fn pids(home: &Path) -> Vec<u32> {
    let setting = [HOME_VARIABLE.as_bytes(), b"=", home.as_os_str().as_encoded_bytes()].concat();
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    processes
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok())
        .filter(|pid| {
            let name = std::fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
            let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            name.trim_end() == "koru-service"
                && environment.split(|byte| *byte == 0).any(|variable| variable == setting)
        })
        .collect()
}

/// The process that runs `koru-service` for this home.
#[cfg(all(unix, not(target_os = "linux")))]
#[must_use]
pub fn pids(home: &Path) -> Vec<u32> {
    hello(home).map(|hello| hello.pid).into_iter().collect()
}

/// Sends a signal; a process that is gone is no failure.
///
/// # Panics
/// When the number is none of a process.
#[cfg(unix)]
pub fn signal(pid: u32, signal: Signal) {
    let signal = match signal {
        Signal::Terminate => rustix::process::Signal::TERM,
        Signal::Kill => rustix::process::Signal::KILL,
        Signal::Stop => rustix::process::Signal::STOP,
        Signal::Continue => rustix::process::Signal::CONT,
        Signal::Interrupt => rustix::process::Signal::INT,
    };
    let number = i32::try_from(pid).ok().filter(|number| *number > 1).expect("a process's number");
    if let Some(pid) = rustix::process::Pid::from_raw(number) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Ends the processes that `running` names, in order, and with force where that takes too long.
pub fn end(running: impl Fn() -> Vec<u32>) {
    let began = Instant::now();
    let mut asked = Vec::new();
    loop {
        let left = running();
        if left.is_empty() {
            return;
        }
        let force = began.elapsed() > Duration::from_secs(8);
        for pid in left {
            if force {
                signal(pid, Signal::Kill);
            } else if !asked.contains(&pid) {
                asked.push(pid);
                signal(pid, Signal::Continue);
                signal(pid, Signal::Terminate);
            }
        }
        if began.elapsed() > Duration::from_secs(20) {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
}
