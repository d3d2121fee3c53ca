//! What a person may ask of the service and no tool may do.

use serde::{Deserialize, Serialize};

use super::base64::Base64;
use crate::content::ContentHash;
use crate::ids::{DocumentId, FileId, TagId, WorkspaceId};
use crate::value::ValueKind;

/// One request of a person. On the wire `call` is the name and `params` holds the fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "call", content = "params")]
pub enum Admin {
    /// How the service is: process, release, store.
    #[serde(rename = "service.status")]
    ServiceStatus {},
    /// Finish what is running, then end.
    #[serde(rename = "service.stop")]
    ServiceStop {},
    /// A newer bridge asks an older service to finish what it is doing and end.
    #[serde(rename = "service.make_room")]
    ServiceMakeRoom {
        /// The release of the bridge.
        release: String,
        /// The build of the bridge.
        build: String,
    },
    /// Creates a workspace, under an ID that the caller chose, so that a repeat makes no second one.
    #[serde(rename = "workspace.create")]
    WorkspaceCreate {
        /// The new workspace's ID.
        workspace_id: WorkspaceId,
        /// Its name: one line, not empty.
        name: String,
    },
    /// Renames a workspace.
    #[serde(rename = "workspace.rename")]
    WorkspaceRename {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// Its new name.
        name: String,
    },
    /// Archives a workspace, or takes it back.
    #[serde(rename = "workspace.archive")]
    WorkspaceArchive {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// Whether it is archived.
        archived: bool,
    },
    /// Marks a workspace as deleted (read-only), or takes it back.
    #[serde(rename = "workspace.delete")]
    WorkspaceDelete {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// Whether it is deleted.
        deleted: bool,
    },
    /// Moves a document among the documents of its workspace.
    #[serde(rename = "document.move")]
    DocumentMove {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// The document.
        document_id: DocumentId,
        /// The document to stand under; none: the workspace's root.
        parent_document_id: Option<DocumentId>,
        /// The sibling to stand behind; none: first, or last with `at_end`.
        after_document_id: Option<DocumentId>,
        /// Whether to stand last.
        #[serde(default)]
        at_end: bool,
    },
    /// Puts a document, and all under it, into the trash.
    #[serde(rename = "document.trash")]
    DocumentTrash {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// The document.
        document_id: DocumentId,
    },
    /// Takes a document out of the trash.
    #[serde(rename = "document.untrash")]
    DocumentUntrash {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// The document.
        document_id: DocumentId,
    },
    /// Defines an attribute of a workspace, or changes its definition.
    #[serde(rename = "attribute.define")]
    AttributeDefine {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// The key; not one that begins with `koru.`.
        key: String,
        /// What people see; none: the key.
        label: Option<String>,
        /// The kinds of value that it takes.
        kinds: Vec<ValueKind>,
        /// The only texts that it takes; none: any.
        options: Option<Vec<String>>,
    },
    /// Gives a tag another name; its uses stay, and the tags below it follow.
    #[serde(rename = "tag.rename")]
    TagRename {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// The tag.
        tag_id: TagId,
        /// The new name: a whole path.
        name: String,
    },
    /// Makes every use of a tag a use of another one, and puts the tags below it under that.
    #[serde(rename = "tag.merge")]
    TagMerge {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// The tag that goes.
        source: TagId,
        /// The tag that stays.
        target: TagId,
    },
    /// Removes a tag; refused while nodes carry it or tags lie below it, unless it is forced.
    #[serde(rename = "tag.remove")]
    TagRemove {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// The tag.
        tag_id: TagId,
        /// Whether to take it off all nodes, and to remove the tags below it.
        #[serde(default)]
        force: bool,
    },
    /// Removes an attribute's definition; refused while it is used.
    #[serde(rename = "attribute.remove")]
    AttributeRemove {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// The key.
        key: String,
    },
    /// Begins the upload of a file, which gets the ID that the caller chose. The same again begins anew.
    #[serde(rename = "file.begin")]
    FileBegin {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// Names the upload, and the file that it becomes.
        upload_id: FileId,
        /// The file's name, as it is.
        name: String,
        /// The length of its content in bytes, where it is known.
        size: Option<u64>,
    },
    /// The next bytes of an upload.
    #[serde(rename = "file.chunk")]
    FileChunk {
        /// The upload.
        upload_id: FileId,
        /// Where the bytes begin: as many as were sent before. The same bytes once more do no harm.
        offset: u64,
        /// The bytes, 1 to [`FILE_PIECE_BYTES`](crate::limits::FILE_PIECE_BYTES).
        base64: Base64,
    },
    /// Makes an upload a file of its workspace; repeated, it gives the same file.
    #[serde(rename = "file.finish")]
    FileFinish {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// The upload.
        upload_id: FileId,
        /// The hash of what was sent, as the sender knows it.
        hash: ContentHash,
    },
    /// Gives an upload up; one that is not there is fine.
    #[serde(rename = "file.abort")]
    FileAbort {
        /// The upload.
        upload_id: FileId,
    },
    /// Takes a file out of its workspace; its content goes with its last use.
    #[serde(rename = "file.remove")]
    FileRemove {
        /// The workspace.
        workspace_id: WorkspaceId,
        /// The file.
        file_id: FileId,
        /// Whether to do so although documents refer to it.
        #[serde(default)]
        force: bool,
    },
    /// Checks the next contents against their hashes, as many as a second allows.
    #[serde(rename = "file.verify")]
    FileVerify {
        /// Where to go on, as the answer before said; none: from the beginning.
        next: Option<VerifyFrom>,
    },
}

/// Where a check of all contents goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyFrom {
    /// The content, by its number in the store.
    pub content: i64,
    /// The piece of it, from 0.
    pub piece: u64,
}
