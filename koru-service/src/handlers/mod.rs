//! What each call does: find what is meant in the session's scope, one query or one change, the result.

mod attributes;
mod files;
mod listing;
mod placing;
mod process;
mod tags;
mod workspaces;

use std::sync::Arc;

use koru_model::protocol::admin::Admin;
use koru_model::protocol::{documentation, tools};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::{RawValue, to_raw_value};

use crate::documents::{change, create, extract, history, note, reading};
use crate::errors::ServiceError;
use crate::files::{reading as file_reading, verify};
use crate::search::find;
use crate::service::Service;
use crate::session::Session;

/// A call with its arguments.
#[derive(Debug)]
pub enum Call {
    /// A tool of the table.
    Tool(tools::Call),
    /// What a person asks.
    Admin(Admin),
}

impl Call {
    /// Reads the arguments of the call of that name, as strictly as the bridge does: the service
    /// trusts no client.
    ///
    /// # Errors
    /// When there is no such call, or the arguments are not its own.
    pub fn parse(name: &str, params: &RawValue) -> Result<Self, ServiceError> {
        if tools::find(name).is_none() {
            return Ok(Self::Admin(read_admin(name, params)?));
        }
        Ok(Self::Tool(tools::Call::parse(name, read(params)?)?))
    }

    /// Whether it changes the store.
    #[must_use]
    pub fn writes(&self) -> bool {
        match self {
            Self::Tool(call) => tools::find(call.name()).is_some_and(|tool| !tool.read_only),
            Self::Admin(
                Admin::ServiceStatus {}
                | Admin::ServiceStop {}
                | Admin::ServiceMakeRoom { .. }
                | Admin::FileVerify { .. },
            ) => false,
            Self::Admin(_) => true,
        }
    }
}

/// Does what the call asks for; the result is ready bytes of JSON.
///
/// # Errors
/// When the call is refused or fails; a write is not applied then.
pub fn run(
    service: &Arc<Service>,
    session: &Session,
    call: Call,
) -> Result<Box<RawValue>, ServiceError> {
    if call.writes() && session.scope.read_only {
        return Err(ServiceError::ReadOnlyConnection);
    }
    match call {
        Call::Tool(call) => run_tool(service, session, call),
        Call::Admin(admin) => run_admin(service, session, admin),
    }
}

fn run_tool(
    service: &Arc<Service>,
    session: &Session,
    call: tools::Call,
) -> Result<Box<RawValue>, ServiceError> {
    use tools::Call as Tool;
    match call {
        Tool::GetDocumentation(_) => ready(&serde_json::json!({
            "uri": documentation::URI,
            "mime_type": documentation::MIME_TYPE,
            "text": documentation::TEXT,
        })),
        Tool::ListWorkspaces(_) => workspaces::list(service, session),
        Tool::ListDocuments(params) => listing::documents(service, session, &params),
        Tool::ListTags(params) => listing::tags(service, session, params.workspace_id),
        Tool::ListAttributes(params) => listing::attributes(service, session, params.workspace_id),
        Tool::SearchDocuments(params) => ready(&find::search(service, session, &params)?),
        Tool::ReadDocument(params) => reading::document(service, session, &params),
        Tool::ListDocumentLinks(params) => reading::links(service, session, &params),
        Tool::ListDocumentVersions(params) => reading::versions(service, session, &params),
        Tool::ReadDocumentVersion(params) => history::read_version(service, session, &params),
        Tool::CompareDocumentVersions(params) => {
            history::compare_versions(service, session, &params)
        }
        Tool::RestoreDocumentVersion(params) => {
            ready(&history::restore_version(service, session, params)?)
        }
        Tool::ListFiles(params) => files::list(service, session, &params),
        Tool::SearchFiles(params) => files::search(service, session, &params),
        Tool::GetFile(params) => files::get(service, session, &params),
        Tool::ReadFile(params) => file_reading::read(service, session, &params),
        Tool::EnsureFileNote(params) => ready(&note::ensure(service, session, params)?),
        Tool::ExtractToDocument(params) => ready(&extract::extract(service, session, params)?),
        Tool::CreateDocument(params) => {
            let made = create::create(service, session, params.clone())?;
            reading::made(service, session, &params, made)
        }
        Tool::EditDocument(params) => ready(&change::edit(service, session, params)?),
        Tool::SaveDocumentVersion(params) => {
            ready(&change::save_version(service, session, params)?)
        }
    }
}

fn run_admin(
    service: &Arc<Service>,
    session: &Session,
    admin: Admin,
) -> Result<Box<RawValue>, ServiceError> {
    match admin {
        Admin::ServiceStatus {} => process::status(service),
        Admin::ServiceStop {} => process::stop(service),
        Admin::ServiceMakeRoom { release, build } => process::make_room(service, release, build),
        Admin::WorkspaceCreate { workspace_id, name } => {
            workspaces::create(service, session, workspace_id, name)
        }
        Admin::WorkspaceRename { workspace_id, name } => {
            workspaces::rename(service, session, workspace_id, name)
        }
        Admin::WorkspaceArchive { workspace_id, archived } => {
            workspaces::archive(service, session, workspace_id, archived)
        }
        Admin::WorkspaceDelete { workspace_id, deleted } => {
            workspaces::delete(service, session, workspace_id, deleted)
        }
        Admin::DocumentMove {
            workspace_id,
            document_id,
            parent_document_id,
            after_document_id,
            at_end,
        } => {
            let place = placing::place(after_document_id, at_end)?;
            placing::move_to(service, session, workspace_id, document_id, parent_document_id, place)
        }
        Admin::DocumentTrash { workspace_id, document_id } => {
            placing::trash(service, session, workspace_id, document_id)
        }
        Admin::DocumentUntrash { workspace_id, document_id } => {
            placing::untrash(service, session, workspace_id, document_id)
        }
        Admin::AttributeDefine { workspace_id, key, label, kinds, options } => {
            attributes::define(service, session, workspace_id, key, label, kinds, options)
        }
        Admin::TagRename { workspace_id, tag_id, name } => {
            tags::rename(service, session, workspace_id, tag_id, name)
        }
        Admin::TagMerge { workspace_id, source, target } => {
            tags::merge(service, session, workspace_id, source, target)
        }
        Admin::TagRemove { workspace_id, tag_id, force } => {
            tags::remove(service, session, workspace_id, tag_id, force)
        }
        Admin::AttributeRemove { workspace_id, key } => {
            attributes::remove(service, session, workspace_id, key)
        }
        Admin::FileBegin { workspace_id, upload_id, name, size } => {
            files::begin(service, session, workspace_id, upload_id, name, size)
        }
        Admin::FileChunk { upload_id, offset, base64 } => {
            files::chunk(service, session, upload_id, offset, &base64.0)
        }
        Admin::FileFinish { workspace_id, upload_id, hash } => {
            files::finish(service, session, workspace_id, upload_id, hash)
        }
        Admin::FileAbort { upload_id } => files::abort(service, session, upload_id),
        Admin::FileRemove { workspace_id, file_id, force } => {
            files::remove(service, session, workspace_id, file_id, force)
        }
        Admin::FileVerify { next } => ready(&verify::step(service, session, next)?),
    }
}

/// A result as ready bytes.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn ready<T: Serialize>(result: &T) -> Result<Box<RawValue>, ServiceError> {
    Ok(to_raw_value(result)?)
}

fn read<T: DeserializeOwned>(params: &RawValue) -> Result<T, ServiceError> {
    serde_json::from_str(params.get()).map_err(|error| ServiceError::invalid("", error.to_string()))
}

fn read_admin(name: &str, params: &RawValue) -> Result<Admin, ServiceError> {
    if !name.contains('.') {
        return Err(ServiceError::UnknownCall);
    }
    // The tag of the enum is data of the frame, so the two are joined again here.
    let params: serde_json::Value = read(params)?;
    let joined = serde_json::json!({ "call": name, "params": params });
    serde_json::from_value(joined).map_err(|error| {
        if error.to_string().starts_with("unknown variant") {
            ServiceError::UnknownCall
        } else {
            ServiceError::invalid("", error.to_string())
        }
    })
}
