//! `file get`: writes a file's content to where a person wants it, whole or not at all.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use koru_model::content::ContentHasher;
use koru_model::file_name::{folded, safe_name};
use koru_model::ids::WorkspaceId;
use koru_model::limits;
use koru_model::protocol::base64::Base64;
use serde::Deserialize;
use serde_json::json;

use super::Listed;
use crate::commands::{Done, Failure, Session};
use crate::output;

/// A piece as `read_file` gives it.
#[derive(Deserialize)]
struct Piece {
    eof: bool,
    base64: Base64,
}

pub(super) async fn run(
    session: &Session,
    workspace: WorkspaceId,
    file: &Listed,
    output: Option<&Path>,
    force: bool,
) -> Done {
    if output.is_some_and(|path| path.as_os_str() == "-") {
        let mut stdout = io::stdout().lock();
        copy(session, workspace, file, &mut stdout).await?;
        return Ok(stdout.flush()?);
    }
    let target = target(file, output, force)?;
    let folder = match target.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let at = |error: io::Error| {
        Failure::Said(format!("{}: {error}", output::one_line(&target.to_string_lossy())))
    };
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut temporary = builder.prefix(".koru-").tempfile_in(folder).map_err(at)?;
    copy(session, workspace, file, &mut temporary).await?;
    temporary.as_file().sync_all().map_err(at)?;
    let kept =
        if force { temporary.persist(&target) } else { temporary.persist_noclobber(&target) };
    kept.map_err(|error| at(error.error))?;
    Ok(output::line(&output::one_line(&target.to_string_lossy()))?)
}

/// Where the file goes.
fn target(file: &Listed, output: Option<&Path>, force: bool) -> Result<PathBuf, Failure> {
    let folder = match output {
        Some(path) if path.is_dir() => path,
        Some(path) if path.symlink_metadata().is_ok() && !force => {
            let shown = output::one_line(&path.to_string_lossy());
            return Err(Failure::Said(format!("{shown} is there already; --force overwrites it")));
        }
        Some(path) if path.symlink_metadata().is_ok_and(|found| !found.is_file()) => {
            let shown = output::one_line(&path.to_string_lossy());
            return Err(Failure::Said(format!("{shown} is no file; --output - writes to a pipe")));
        }
        Some(path) => return Ok(path.to_path_buf()),
        None => Path::new(""),
    };
    let listed = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let taken: HashSet<String> = std::fs::read_dir(listed)?
        .filter_map(|entry| Some(folded(entry.ok()?.file_name().to_str()?)))
        .collect();
    Ok(folder.join(safe_name(&file.name, |name| !force && taken.contains(name))))
}

/// Copies the content, and checks it against its hash.
async fn copy(
    session: &Session,
    workspace: WorkspaceId,
    file: &Listed,
    to: &mut impl Write,
) -> Result<(), Failure> {
    let bar = output::progress(file.size, &output::one_line(&file.name));
    let mut hasher = ContentHasher::default();
    loop {
        let arguments = json!({ "workspace_id": workspace, "file_id": file.file_id,
            "offset": hasher.bytes(), "length": limits::FILE_PIECE_BYTES });
        let raw = session.tool("read_file", arguments).await?;
        let piece: Piece = serde_json::from_str(raw.get())
            .map_err(|_| Failure::Said("the service's answer cannot be read".into()))?;
        to.write_all(&piece.base64.0)?;
        hasher.update(&piece.base64.0);
        bar.set_position(hasher.bytes());
        if piece.eof {
            break;
        }
        if piece.base64.0.is_empty() {
            return Err(Failure::Said("the file ended too early; try again".into()));
        }
    }
    bar.finish_and_clear();
    if hasher.finish().0 == file.hash {
        return Ok(());
    }
    Err(Failure::Said("what was read is not what was added; run koru-mcp file verify".into()))
}
