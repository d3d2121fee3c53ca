//! Every limit of the contract, named once.

/// The longest text of a node, in bytes of UTF-8.
pub const TEXT_BYTES: usize = 1024 * 1024;
/// The longest title, in characters.
pub const TITLE_CHARS: usize = 1_000;
/// The most operations in one batch.
pub const BATCH_OPERATIONS: usize = 10_000;
/// The most live nodes in one document.
pub const DOCUMENT_NODES: usize = 100_000;
/// The deepest level of a node; the title has depth 0.
pub const DEPTH: usize = 48;
/// The longest tag name, in characters, all levels and separators included.
pub const TAG_CHARS: usize = 200;
/// The longest label of an inline, in characters.
pub const LABEL_CHARS: usize = 200;
/// The longest name of a code block's language, in characters.
pub const LANGUAGE_CHARS: usize = 100;
/// The longest attribute key, in characters.
pub const KEY_CHARS: usize = 100;
/// The longest attribute value, in bytes of UTF-8.
pub const VALUE_BYTES: usize = 64 * 1024;
/// The longest label of a history entry, in characters.
pub const ENTRY_LABEL_CHARS: usize = 200;
/// The longest message of a history entry, in characters.
pub const ENTRY_MESSAGE_CHARS: usize = 10_000;
/// The largest request, in bytes of JSON.
pub const REQUEST_BYTES: usize = 8 * 1024 * 1024;
/// The largest frame to the service, in bytes of JSON: a request of the client, and what the bridge
/// puts around it.
pub const FRAME_BYTES: usize = REQUEST_BYTES + 64 * 1024;
/// The largest reply on the local socket, in bytes of JSON.
pub const REPLY_BYTES: usize = 64 * 1024 * 1024;
/// The largest result of a read, in bytes of JSON.
pub const RESULT_BYTES: usize = 8 * 1024 * 1024;
/// Where a page of nodes ends, in bytes of JSON, whatever its `page_size`.
pub const PAGE_BYTES: usize = 24 * 1024;
/// The most files of a page.
pub const PAGE_FILES: u32 = 1_000;
/// The most files that a search by name gives.
pub const FOUND_FILES: u32 = 200;
/// The longest piece of a file in one read, and in one frame of an upload, in bytes.
pub const FILE_PIECE_BYTES: u32 = 1024 * 1024;
/// The longest name of a file, in bytes of UTF-8.
pub const FILE_NAME_BYTES: usize = 1_024;
/// The deepest nesting of a JSON message.
pub const JSON_DEPTH: usize = 64;
/// The largest error, in bytes of JSON.
pub const ERROR_BYTES: usize = 4 * 1024;
/// The most conflicts that one error lists.
pub const CONFLICTS: usize = 10;
/// The most problems that one error lists.
pub const PROBLEMS: usize = 50;
/// The length of a text window in an error, in characters.
pub const WINDOW_CHARS: usize = 200;
