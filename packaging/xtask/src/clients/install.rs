//! What the checks need, pinned, below `target/clients`.

use std::path::{Path, PathBuf};
use std::process::Command;

use koru_tests::support::home::Home;

use crate::programs::{output, repository, target};

pub(super) const PYTHON_SDK: &str = "2.3.0";
pub(super) const TYPESCRIPT_SDK: &str = "1.32.2";
pub(super) const INSPECTOR: &str = "2.12.0";
/// From the npm package `node`: with an older Node npm silently takes old releases of the clients.
pub(crate) const NODE: &str = "22.23.3";

/// The installed clients.
pub(super) struct Installed {
    folder: PathBuf,
    node: Node,
}

/// A Node of a known version.
pub(crate) struct Node {
    bin: PathBuf,
}

impl Node {
    pub(crate) fn new() -> Result<Self, String> {
        let folder = target().join("clients/node");
        npm(None, &folder, "node", NODE)?;
        Ok(Self { bin: folder.join("node_modules/.bin") })
    }

    /// `PATH` with this Node first.
    pub(crate) fn path(&self) -> std::ffi::OsString {
        let before = std::env::var_os("PATH").unwrap_or_default();
        let all = std::iter::once(self.bin.clone()).chain(std::env::split_paths(&before));
        std::env::join_paths(all).unwrap_or(before)
    }

    pub(crate) fn program(&self) -> PathBuf {
        self.bin.join("node")
    }

    /// A package of npm; the folder that it stands in.
    pub(crate) fn package(&self, name: &str, version: &str) -> Result<PathBuf, String> {
        let folder = target().join("clients").join(name.rsplit('/').next().unwrap_or(name));
        npm(Some(self), &folder, name, version)?;
        Ok(folder)
    }
}

impl Installed {
    pub(super) fn new() -> Result<Self, String> {
        let folder = target().join("clients");
        python(&folder.join("python"))?;
        let node = Node::new()?;
        node.package("@modelcontextprotocol/inspector", INSPECTOR)?;
        node.package("@modelcontextprotocol/sdk", TYPESCRIPT_SDK)?;
        Ok(Self { folder, node })
    }

    /// Python with the SDK.
    pub(super) fn python(&self, home: &Home) -> Result<Command, String> {
        self.alone(Command::new(self.folder.join("python/bin/python")), home)
    }

    /// Node with the SDK's check.
    pub(super) fn typescript(&self, home: &Home) -> Result<Command, String> {
        let mut command = self.alone(Command::new(self.node.program()), home)?;
        // Node looks for packages beside the script.
        let check = self.folder.join("sdk/check.mjs");
        std::fs::copy(script("typescript_sdk.mjs"), &check)
            .map_err(|error| format!("{}: {error}", check.display()))?;
        command.arg(check);
        Ok(command)
    }

    /// The Inspector's command line.
    pub(super) fn inspector(&self, home: &Home) -> Result<Command, String> {
        let program = self.folder.join("inspector/node_modules/.bin/mcp-inspector");
        self.alone(Command::new(program), home)
    }

    /// A command with an empty `HOME`, Koru's home, and nothing else of this environment.
    fn alone(&self, mut command: Command, home: &Home) -> Result<Command, String> {
        home.clear(&mut command);
        let user = home.beside().join("user");
        std::fs::create_dir_all(&user).map_err(|error| error.to_string())?;
        command.env("HOME", &user).env("PATH", self.node.path()).current_dir(&user);
        Ok(command)
    }
}

/// A script of this recipe.
pub(super) fn script(name: &str) -> PathBuf {
    repository().join("packaging/xtask/src/clients").join(name)
}

fn done(command: &mut Command) -> Result<(), String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let (code, said, complained) = output(command)?;
    if code == Some(0) {
        return Ok(());
    }
    Err(format!("{program} ended with {code:?}:\n{said}\n{complained}"))
}

/// A Python environment with the SDK.
fn python(folder: &Path) -> Result<(), String> {
    let program = folder.join("bin/python");
    let version = "import importlib.metadata as m; print(m.version('mcp'))";
    let has = output(Command::new(&program).args(["-c", version]));
    if has.is_ok_and(|(_, version, _)| version.trim() == PYTHON_SDK) {
        return Ok(());
    }
    println!("mcp {PYTHON_SDK} for Python");
    done(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
    let sdk = format!("mcp=={PYTHON_SDK}");
    done(Command::new(program).args(["-m", "pip", "install", "--quiet", &sdk]))
}

/// A package of npm in a folder of its own.
fn npm(node: Option<&Node>, folder: &Path, name: &str, version: &str) -> Result<(), String> {
    let manifest = folder.join("node_modules").join(name).join("package.json");
    let installed = std::fs::read_to_string(manifest)
        .ok()
        .and_then(|text| serde_json::from_str::<serde_json::Value>(&text).ok());
    if installed.is_some_and(|manifest| manifest["version"] == version) {
        return Ok(());
    }
    println!("{name} {version} for Node");
    std::fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut command = Command::new("npm");
    command.args(["install", "--silent", "--no-audit", "--no-fund", "--save-exact", "--prefix"]);
    command.arg(folder).arg(format!("{name}@{version}")).current_dir(folder);
    if let Some(node) = node {
        command.env("PATH", node.path());
    }
    done(&mut command)
}
