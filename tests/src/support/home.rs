//! A home to throw away: store, logs and socket of one test, and an environment with nothing else in it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use koru_model::protocol::home::{HOME_VARIABLE, Home as Folders};
use tempfile::TempDir;

use super::bridge::Bridge;
use super::programs::Programs;
use super::service::{self, Signal};

/// One home. When it is dropped, its service ends and its folder goes.
#[derive(Debug)]
pub struct Home {
    folder: TempDir,
    root: PathBuf,
    programs: Programs,
}

impl Home {
    /// An empty home with the programs beside this test.
    #[must_use]
    pub fn new() -> Self {
        Self::of(Programs::beside_this_test())
    }

    /// An empty home with these programs.
    #[must_use]
    pub fn of(programs: Programs) -> Self {
        Self::in_folder(programs, &std::env::temp_dir())
    }

    /// An empty home on a file system of choice.
    ///
    /// # Panics
    /// When no folder can be made there.
    #[must_use]
    pub fn in_folder(programs: Programs, above: &Path) -> Self {
        let folder =
            tempfile::Builder::new().prefix("koru-").tempdir_in(above).expect("a folder to use");
        let root = folder.path().join("home");
        Self { folder, root, programs }
    }

    /// What `KORU_HOME` says.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// A folder beside the home, for what a test needs besides.
    #[must_use]
    pub fn beside(&self) -> &Path {
        self.folder.path()
    }

    /// The folders in it.
    #[must_use]
    pub fn folders(&self) -> Folders {
        Folders::under(&self.root, None)
    }

    /// The programs.
    #[must_use]
    pub fn programs(&self) -> &Programs {
        &self.programs
    }

    /// `koru-mcp` with this home and an environment with nothing else in it.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.programs.bridge);
        self.clear(&mut command);
        command
    }

    /// Gives a command this home and nothing else.
    pub fn clear(&self, command: &mut Command) {
        command.env_clear().env(HOME_VARIABLE, &self.root);
        for kept in ["PATH", "TZ", "RUST_BACKTRACE"] {
            if let Some(value) = std::env::var_os(kept) {
                command.env(kept, value);
            }
        }
    }

    /// Runs `koru-mcp` with these arguments to its end.
    ///
    /// # Panics
    /// When it cannot be run.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().expect("koru-mcp runs")
    }

    /// A bridge whose client has said hello.
    #[must_use]
    pub fn bridge(&self) -> Bridge {
        self.bridge_with(&[])
    }

    /// A bridge with flags whose client has said hello.
    #[must_use]
    pub fn bridge_with(&self, flags: &[&str]) -> Bridge {
        let mut command = self.command();
        command.args(["serve", "--stdio"]).args(flags);
        let bridge = Bridge::start(command);
        bridge.initialize("koru-tests");
        bridge
    }

    /// The processes of this home's service.
    #[must_use]
    pub fn service_pids(&self) -> Vec<u32> {
        service::pids(&self.root)
    }

    /// Ends the service of this home, if one runs: in order, and with force where that takes too long.
    pub fn stop_service(&self) {
        service::end(|| self.service_pids());
    }

    /// Kills the service of this home as `kill -9` does; whether there was one.
    pub fn kill_service(&self) -> bool {
        let pids = self.service_pids();
        for pid in &pids {
            service::signal(*pid, Signal::Kill);
        }
        !pids.is_empty()
    }
}

impl Default for Home {
    fn default() -> Self {
        Self::new()
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        self.stop_service();
    }
}
