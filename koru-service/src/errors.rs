//! Every failure of the service, and the one place that says what a client is told about it.

use std::io;
use std::path::PathBuf;

use koru_model::document::CrdtError;
use koru_model::ids::{DocumentId, NodeId, WorkspaceId};
use koru_model::limits;
use koru_model::protocol::error::{Code, Problem, ToolError};
use koru_model::protocol::wire::RELEASE;
use rusqlite::ErrorCode;
use serde_json::json;

/// What the storage under the store refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum StorageFault {
    /// No room is left.
    #[error("the disk is full")]
    Full,
    /// Writing is not allowed.
    #[error("the store's folder or file is read-only")]
    ReadOnly,
    /// Reading or writing failed.
    #[error("the disk reported an input/output error")]
    Io,
    /// The file is damaged, or no database.
    #[error("the store's file is damaged")]
    Damaged,
    /// Another program holds the store.
    #[error("another program holds the store's file")]
    Locked,
    /// SQLite refused for another reason.
    #[error("the database refused the statement")]
    Refused,
}

impl StorageFault {
    /// What the system's error about a file means for the storage.
    #[must_use]
    pub fn of_file(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => Self::ReadOnly,
            _ => Self::Io,
        }
    }

    /// What SQLite's error means for the storage; `None` where the storage is not at fault.
    #[must_use]
    pub fn of(error: &rusqlite::Error) -> Option<Self> {
        Some(match error.sqlite_error_code()? {
            ErrorCode::DiskFull => Self::Full,
            ErrorCode::ReadOnly | ErrorCode::PermissionDenied => Self::ReadOnly,
            ErrorCode::SystemIoFailure
            | ErrorCode::CannotOpen
            | ErrorCode::NoLargeFileSupport
            | ErrorCode::FileLockingProtocolFailed => Self::Io,
            ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase => Self::Damaged,
            ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked => Self::Locked,
            // A table of search whose own settings are gone.
            ErrorCode::Unknown if error.to_string().contains("fts5 file format") => Self::Damaged,
            ErrorCode::Unknown if error.to_string().contains("vtable constructor failed") => {
                Self::Damaged
            }
            _ => return None,
        })
    }

    fn remedy(self) -> &'static str {
        match self {
            Self::Full => "Ask the user to free space on the disk of Koru's store, then try again",
            Self::ReadOnly => {
                "Ask the user to make Koru's store writable again (`koru-mcp doctor` shows where it is), then try again"
            }
            Self::Io => {
                "Ask the user to check the disk of Koru's store (`koru-mcp doctor` shows where it is), then try again"
            }
            Self::Damaged => "Ask the user to run `koru-mcp doctor`; nothing was deleted",
            Self::Locked => "Try again; if it stays so, ask the user to run `koru-mcp doctor`",
            Self::Refused => "Try again; if it stays so, ask the user to run `koru-mcp doctor`",
        }
    }
}

/// Why the store could not be opened. Nothing of it was changed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A newer release wrote it.
    #[error(
        "{} was written by a newer release of Koru (schema {found}, this release knows {known}); install that release or a newer one. Nothing was changed",
        path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its schema version.
        found: u32,
        /// The newest schema version that this release knows.
        known: u32,
    },
    /// It is a database of another program.
    #[error("{} is not a store of Koru; nothing was changed", path.display())]
    Foreign {
        /// The database.
        path: PathBuf,
    },
    /// It is damaged.
    #[error(
        "{} is damaged ({detail}); nothing was deleted. Keep a copy of its folder, then put a good copy of the folder in its place",
        path.display()
    )]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// A setting did not hold.
    #[error(
        "{}: SQLite keeps {pragma} at {found}; is the store on a network file system?",
        path.display()
    )]
    Pragma {
        /// The database.
        path: PathBuf,
        /// The setting.
        pragma: &'static str,
        /// Its value.
        found: String,
    },
    /// The file system refused.
    #[error("{}: {source}", path.display())]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// SQLite refused.
    #[error("{}: {source}", path.display())]
    Sqlite {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        source: rusqlite::Error,
    },
}

/// What a workspace may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    /// A document.
    Document,
    /// A history entry.
    Entry,
    /// A tag.
    Tag,
    /// A file.
    File,
}

impl Thing {
    fn name(self) -> &'static str {
        match self {
            Self::Document => "document",
            Self::Entry => "history entry",
            Self::Tag => "tag",
            Self::File => "file",
        }
    }

    fn lookup(self) -> &'static str {
        match self {
            Self::Document => "list_documents gives the documents",
            Self::Entry => "list_document_versions gives the entries",
            Self::Tag => "list_tags gives the tags",
            Self::File => "list_files gives the files",
        }
    }
}

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// The arguments are wrong in these places.
    #[error("the arguments are wrong")]
    Invalid(Vec<Problem>),
    /// No such call.
    #[error("unknown call")]
    UnknownCall,
    /// The workspace is unknown, or outside the connection.
    #[error("workspace {0} is out of reach")]
    WorkspaceOutOfReach(WorkspaceId),
    /// The workspace is deleted, so only reading is left.
    #[error("workspace {0} is deleted")]
    WorkspaceDeleted(WorkspaceId),
    /// The connection only reads.
    #[error("the connection is read-only")]
    ReadOnlyConnection,
    /// The connection is bound to some workspaces.
    #[error("the connection is bound to some workspaces")]
    BoundConnection,
    /// The workspace holds no such thing.
    #[error("no such {}", thing.name())]
    NotFound {
        /// What was looked for.
        thing: Thing,
        /// Under which ID.
        id: String,
    },
    /// The document, or one above it, lies in the trash.
    #[error("document {0} lies in the trash")]
    DocumentTrashed(DocumentId),
    /// The sibling stands elsewhere.
    #[error("document {sibling} does not stand there")]
    NotASibling {
        /// The document that was taken for a sibling.
        sibling: DocumentId,
        /// The document that it stands under.
        parent: Option<DocumentId>,
    },
    /// The revision is not of the document's history.
    #[error("the revision is not of the document's history")]
    RevisionConflict {
        /// The field that gives it.
        field: &'static str,
        /// The present one.
        revision: String,
    },
    /// The idempotency key was used with other input.
    #[error("the idempotency key was used with other input")]
    KeyReused {
        /// The document that was made with it.
        document: DocumentId,
    },
    /// The ID is that of another document's title node.
    #[error("{root} is the title node of another document")]
    RootTaken {
        /// The ID.
        root: NodeId,
        /// The document, where the connection may know of it.
        taken_by: Option<DocumentId>,
    },
    /// A document's tree is too large for one result.
    #[error("the tree is too large for one result")]
    TreeTooLarge,
    /// The attribute is still used.
    #[error("attribute {key} is used")]
    AttributeUsed {
        /// The key.
        key: String,
        /// The nodes that carry it.
        uses: u32,
    },
    /// The workspace defines no such attribute.
    #[error("no attribute {key}")]
    UnknownAttribute {
        /// The key.
        key: String,
        /// The keys that it defines.
        known: Vec<String>,
    },
    /// The storage refused; nothing of the call is applied.
    #[error("{0}")]
    Storage(StorageFault),
    /// The storage refused so late that nobody knows whether the change is kept.
    #[error("the outcome is unknown: {0}")]
    OutcomeUnknown(StorageFault),
    /// Too many writes wait.
    #[error("too many writes wait")]
    WritesQueued,
    /// The service ends.
    #[error("the service ends")]
    Stopping,
    /// The bridge is no newer than this service.
    #[error("the bridge is no newer")]
    NotNewer,
    /// The bridge speaks no protocol version that this service speaks.
    #[error("no protocol version in common")]
    NoCommonProtocol,
    /// The result is too large.
    #[error("a result of {bytes} bytes")]
    ResultTooLarge {
        /// Its size.
        bytes: usize,
        /// The most that there may be.
        limit: usize,
    },
    /// The request is too large.
    #[error("a request of {bytes} bytes")]
    RequestTooLarge {
        /// Its size.
        bytes: usize,
    },
    /// A refusal that was worded where it was found.
    #[error(transparent)]
    Refused(#[from] ToolError),
    /// A fault of the program.
    #[error("internal: {0}")]
    Internal(&'static str),
}

impl ServiceError {
    /// One fault of the arguments.
    #[must_use]
    pub fn invalid(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Self::Invalid(vec![Problem::new(path, reason)])
    }

    /// The workspace holds no such document.
    #[must_use]
    pub fn no_document(id: DocumentId) -> Self {
        Self::NotFound { thing: Thing::Document, id: id.to_string() }
    }
}

impl ServiceError {
    /// What a batch was told when it asked about the world.
    #[must_use]
    pub fn from_facts(error: koru_model::edit::facts::FactsError) -> Self {
        error.downcast::<Self>().map_or(Self::Internal("a fact could not be found out"), |own| *own)
    }
}

impl From<CrdtError> for ServiceError {
    fn from(error: CrdtError) -> Self {
        // What CRDT errors say names no content.
        tracing::error!(%error, "a document's engine failed");
        Self::Internal("a document's engine failed")
    }
}

impl From<rusqlite::Error> for ServiceError {
    fn from(error: rusqlite::Error) -> Self {
        match StorageFault::of(&error) {
            Some(fault) => Self::Storage(fault),
            None => {
                // The message of SQLite names columns and statements, never values.
                let code = error.sqlite_error().map_or(0, |error| error.extended_code);
                tracing::error!(code, "a statement failed");
                Self::Internal("a statement failed")
            }
        }
    }
}

impl From<serde_json::Error> for ServiceError {
    fn from(_: serde_json::Error) -> Self {
        Self::Internal("a result could not be written as JSON")
    }
}

impl From<ServiceError> for ToolError {
    fn from(error: ServiceError) -> Self {
        match error {
            ServiceError::Invalid(problems) => Self::invalid(&problems),
            ServiceError::UnknownCall => {
                Self::new(Code::InvalidRequest, "The service knows no call of that name.")
            }
            ServiceError::WorkspaceOutOfReach(id) => Self::new(
                Code::PermissionDenied,
                format!(
                    "This connection reaches no workspace {id}. list_workspaces gives those that it does."
                ),
            ),
            ServiceError::WorkspaceDeleted(id) => Self::new(
                Code::PermissionDenied,
                format!(
                    "Workspace {id} is deleted and can only be read. Write into another one, or ask the user to take it back."
                ),
            ),
            ServiceError::ReadOnlyConnection => Self::new(
                Code::PermissionDenied,
                "This connection may only read. Ask the user to start koru-mcp without --read-only if writing is wanted.",
            ),
            ServiceError::BoundConnection => Self::new(
                Code::PermissionDenied,
                "This connection is bound to some workspaces and cannot make new ones.",
            ),
            ServiceError::NotFound { thing, id } => Self::new(
                Code::NotFound,
                format!("This workspace holds no {} {id}; {}.", thing.name(), thing.lookup()),
            ),
            ServiceError::DocumentTrashed(id) => Self::new(
                Code::DocumentTrashed,
                format!(
                    "Document {id} lies in the trash and can only be read. Write into another one, or ask the user to restore it."
                ),
            )
            .with(json!({ "document_id": id })),
            ServiceError::NotASibling { sibling, parent } => {
                let place = parent
                    .map_or_else(|| "at the workspace's root".into(), |id| format!("under {id}"));
                Self::new(
                    Code::PreconditionFailed,
                    format!("Document {sibling} stands {place}, not under the given parent."),
                )
                .with(json!({ "document_id": sibling, "parent_document_id": parent }))
            }
            ServiceError::RevisionConflict { field, revision } => Self::new(
                Code::RevisionConflict,
                format!(
                    "{field} is not of this document's history. Nothing was changed; read the document and use the revision that it gives."
                ),
            )
            .with(json!({ "revision": revision })),
            ServiceError::KeyReused { document } => Self::new(
                Code::IdempotencyConflict,
                format!(
                    "This idempotency_key made document {document} with other input. Use a new UUID for another document."
                ),
            )
            .with(json!({ "document_id": document })),
            ServiceError::RootTaken { root, taken_by } => {
                let owner = taken_by
                    .map_or_else(|| "another document".into(), |id| format!("document {id}"));
                Self::invalid(&[Problem::new(
                    "root_node_id",
                    format!("{root} is the title node of {owner}; choose a new UUID"),
                )])
            }
            ServiceError::TreeTooLarge => Self::new(
                Code::TooLarge,
                format!(
                    "The document is larger than the limit of {} bytes a result. Read it by pages: page_size, then after_node_id with revision; or a part of it by node_id and max_depth.",
                    limits::RESULT_BYTES
                ),
            )
            .with(json!({ "limit": limits::RESULT_BYTES })),
            ServiceError::AttributeUsed { key, uses } => Self::new(
                Code::PreconditionFailed,
                format!(
                    "Attribute {key} stands on {uses} nodes, the trash included; clear it there first."
                ),
            )
            .with(json!({ "key": key, "uses": uses })),
            ServiceError::UnknownAttribute { key, known } => Self::new(
                Code::UnknownAttribute,
                format!("This workspace defines no attribute {key}; list_attributes gives the keys."),
            )
            .with(json!({ "known": known })),
            ServiceError::Storage(fault) => Self::new(
                Code::StorageFailed,
                format!("Nothing was changed: {fault}. {}.", fault.remedy()),
            ),
            ServiceError::OutcomeUnknown(fault) => Self::new(
                Code::OutcomeUnknown,
                format!(
                    "The change may or may not be saved: {fault}. Read the document before trying again."
                ),
            ),
            ServiceError::WritesQueued => Self::new(
                Code::Busy,
                "Too many changes wait to be written. Nothing was changed; try again in a second.",
            ),
            ServiceError::Stopping => Self::new(
                Code::Busy,
                "The service is about to end and takes no new calls. Nothing was changed; try again in a second.",
            )
            .with(json!({ "retry": true })),
            ServiceError::NotNewer => Self::new(
                Code::VersionMismatch,
                "The running service is as new as the bridge or newer, and stays.",
            ),
            ServiceError::NoCommonProtocol => Self::new(
                Code::VersionMismatch,
                format!(
                    "The running koru-service {RELEASE} cannot talk with this koru-mcp. Ask the user to quit the client completely and start it again, so that both are of one release."
                ),
            ),
            ServiceError::ResultTooLarge { bytes, limit } => Self::new(
                Code::TooLarge,
                format!(
                    "The result has {bytes} bytes, more than the limit of {limit}. Ask for less at a time: page_size, node_id or max_depth where the tool has them."
                ),
            )
            .with(json!({ "bytes": bytes, "limit": limit })),
            ServiceError::RequestTooLarge { bytes } => Self::new(
                Code::TooLarge,
                format!(
                    "The request has {bytes} bytes, more than the limit of {}. Nothing was changed; split it.",
                    limits::REQUEST_BYTES
                ),
            )
            .with(json!({ "bytes": bytes, "limit": limits::REQUEST_BYTES })),
            ServiceError::Refused(error) => error,
            ServiceError::Internal(_) => Self::new(
                Code::Internal,
                "The service failed by a fault of its own; the change was not applied. koru-service.log says where.",
            ),
        }
    }
}
