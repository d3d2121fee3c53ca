//! `file add`: sends files to the service, piece by piece.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use koru_model::content::ContentHasher;
use koru_model::ids::{FileId, WorkspaceId};
use koru_model::limits;
use koru_model::protocol::admin::Admin;
use koru_model::protocol::base64::Base64;
use koru_model::protocol::error::{Code, ToolError};
use koru_model::protocol::home::Home;
use serde_json::{Value, json};
use uuid::Uuid;

use super::source::{self, Found, Own, Source};
use crate::commands::{Done, Failure, Session};
use crate::output::{self, one_line};

/// How often a file is sent from its beginning, where the service forgot the upload because it was started again.
const ATTEMPTS: usize = 4;

/// Something to add.
struct Item {
    path: PathBuf,
    /// Whether the person named it, and not a folder that it stands in.
    is_named: bool,
}

/// Why a file was not added.
enum Fault {
    /// The file is not as it should be.
    File(String),
    /// The service refused.
    Service(ToolError),
}

pub(super) async fn run(
    home: &Home,
    session: &Session,
    workspace: WorkspaceId,
    paths: Vec<PathBuf>,
    name: Option<String>,
    json: bool,
) -> Done {
    if name.is_some() && (paths.len() > 1 || paths.first().is_some_and(|path| path.is_dir())) {
        return Err(Failure::Said("--name is for one file".into()));
    }
    let own = Own::of(home);
    let mut items: Vec<Item> =
        paths.into_iter().rev().map(|path| Item { path, is_named: true }).collect();
    let (mut added, mut failed) = (Vec::new(), 0_usize);
    while let Some(Item { path, is_named }) = items.pop() {
        let source = match source::open(&path, &own) {
            Ok(Found::Folder(inside)) => {
                let inside = inside.into_iter().rev();
                items.extend(inside.map(|path| Item { path, is_named: false }));
                continue;
            }
            Ok(Found::File(source)) => source,
            Err(why) => {
                // Links and the like in a folder are passed over; what cannot be read is missed.
                let is_odd = std::fs::symlink_metadata(&path)
                    .is_ok_and(|found| !found.is_file() && !found.is_dir());
                if is_odd && !is_named {
                    complain(&path, &format!("passed over: it {why}"))?;
                } else {
                    failed += 1;
                    complain(&path, &why)?;
                }
                continue;
            }
        };
        let sent = match name_of(&path, name.as_deref()) {
            Ok(name) => send(session, workspace, &name, source).await,
            Err(why) => Err(Fault::File(why)),
        };
        match sent {
            Ok(file) => {
                if !json {
                    let shown = one_line(file["name"].as_str().unwrap_or_default());
                    let id = file["file_id"].as_str().unwrap_or_default();
                    output::line(&format!("{id}  {shown}"))?;
                }
                added.push(file);
            }
            Err(Fault::File(why)) => {
                failed += 1;
                complain(&path, &why)?;
            }
            Err(Fault::Service(error)) if error.code == Code::ServiceUnavailable => {
                return Err(error.into());
            }
            Err(Fault::Service(error)) => {
                failed += 1;
                complain(&path, &format!("{}: {}", error.code.name(), error.message))?;
            }
        }
    }
    if json {
        output::json(&json!({ "files": added }))?;
    }
    match failed {
        0 => Ok(()),
        1 => Err(Failure::Said("1 of them was not added".into())),
        more => Err(Failure::Said(format!("{more} of them were not added"))),
    }
}

fn complain(path: &Path, why: &str) -> std::io::Result<()> {
    writeln!(std::io::stderr(), "koru-mcp: {}: {why}", one_line(&path.to_string_lossy()))
}

/// The name that a file gets: the one that was asked for, or the last part of its path.
fn name_of(path: &Path, name: Option<&str>) -> Result<String, String> {
    if let Some(name) = name {
        return Ok(name.to_owned());
    }
    let name = path.file_name().ok_or("has no name; use --name")?;
    let name = name.to_str().ok_or("has a name that is no UTF-8; give it another one by --name")?;
    Ok(name.to_owned())
}

/// Sends a file; its entry.
async fn send(
    session: &Session,
    workspace: WorkspaceId,
    name: &str,
    mut source: Source,
) -> Result<Value, Fault> {
    let id = FileId(Uuid::now_v7());
    let bar = output::progress(source.bytes(), &one_line(name));
    let mut attempt = 1;
    let sent = loop {
        bar.set_position(0);
        let sent = try_to_send(session, workspace, id, name, &mut source, &bar).await;
        match sent {
            Err(Fault::Service(error)) if error.code == Code::NotFound && attempt < ATTEMPTS => {
                attempt += 1;
                source.rewind().map_err(Fault::File)?;
            }
            sent => break sent,
        }
    };
    bar.finish_and_clear();
    if sent.is_err() {
        // What is left of it is given up by the service in any case, only later.
        let _ = ask(session, &Admin::FileAbort { upload_id: id }).await;
    }
    sent
}

async fn try_to_send(
    session: &Session,
    workspace: WorkspaceId,
    id: FileId,
    name: &str,
    source: &mut Source,
    bar: &indicatif::ProgressBar,
) -> Result<Value, Fault> {
    let size = Some(source.bytes());
    let begin =
        Admin::FileBegin { workspace_id: workspace, upload_id: id, name: name.into(), size };
    ask(session, &begin).await?;
    let mut hasher = ContentHasher::default();
    let mut buffer = vec![0; limits::FILE_PIECE_BYTES as usize];
    loop {
        let offset = hasher.bytes();
        let length = source.read(&mut buffer).map_err(Fault::File)?;
        let bytes = buffer.get(..length).unwrap_or_default();
        // A file that grows is not read for ever.
        if offset + length as u64 > source.bytes() {
            break source.check(offset + length as u64).map_err(Fault::File)?;
        }
        if bytes.is_empty() {
            break;
        }
        hasher.update(bytes);
        let chunk = Admin::FileChunk { upload_id: id, offset, base64: Base64(bytes.to_vec()) };
        ask(session, &chunk).await?;
        bar.set_position(hasher.bytes());
    }
    source.check(hasher.bytes()).map_err(Fault::File)?;
    let (hash, _) = hasher.finish();
    let finish = Admin::FileFinish { workspace_id: workspace, upload_id: id, hash };
    let mut answer = match ask(session, &finish).await {
        // Whether it is there is asked by the same call.
        Err(Fault::Service(error)) if error.code == Code::OutcomeUnknown => {
            ask(session, &finish).await?
        }
        answer => answer?,
    };
    Ok(answer["file"].take())
}

async fn ask(session: &Session, admin: &Admin) -> Result<Value, Fault> {
    session.admin(admin).await.map_err(|failure| match failure {
        Failure::Tool(error) => Fault::Service(error),
        other => Fault::File(other.to_string()),
    })
}
