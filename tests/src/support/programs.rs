//! Where the two programs are.

use std::path::{Path, PathBuf};

/// The two programs of one build, side by side.
#[derive(Debug, Clone)]
pub struct Programs {
    /// `koru-mcp`.
    pub bridge: PathBuf,
    /// `koru-service`.
    pub service: PathBuf,
}

impl Programs {
    /// Those of a folder.
    ///
    /// # Panics
    /// When one of them is missing.
    #[must_use]
    pub fn in_folder(folder: &Path) -> Self {
        Self::look(folder).unwrap_or_else(|| {
            panic!(
                "koru-mcp and koru-service are not in {}; `cargo build` or `cargo test --workspace` makes them",
                folder.display()
            )
        })
    }

    /// Those of the build that this executable belongs to.
    ///
    /// # Panics
    /// When one of them is missing.
    #[must_use]
    pub fn beside_this_test() -> Self {
        let own = std::env::current_exe().expect("an executable has a path");
        let folder = own.parent().expect("an executable stands in a folder");
        // Tests stand in a folder `deps` of the one where the programs are.
        let above = folder.parent().unwrap_or(folder);
        Self::look(folder).unwrap_or_else(|| Self::in_folder(above))
    }

    fn look(folder: &Path) -> Option<Self> {
        let named = |name: &str| {
            Some(folder.join(format!("{name}{}", std::env::consts::EXE_SUFFIX)))
                .filter(|path| path.is_file())
        };
        Some(Self { bridge: named("koru-mcp")?, service: named("koru-service")? })
    }
}
