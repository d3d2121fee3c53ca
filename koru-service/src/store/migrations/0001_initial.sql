-- Times are milliseconds since 1970 (UTC). IDs are the 16 bytes of their UUID.

CREATE TABLE setting (key TEXT PRIMARY KEY, value) WITHOUT ROWID;

CREATE TABLE workspace (
  k INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  name TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_opened_at INTEGER,
  icon TEXT,
  color TEXT,
  pinned INTEGER NOT NULL DEFAULT 0,
  archived INTEGER NOT NULL DEFAULT 0,
  deleted_at INTEGER,
  position INTEGER NOT NULL
);

-- The names of those who change documents: an MCP client's name and version, or koru-mcp.
CREATE TABLE actor (k INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);

-- title and nodes repeat what the document says, so that a listing opens no document.
CREATE TABLE document (
  k INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  workspace INTEGER NOT NULL REFERENCES workspace (k),
  parent INTEGER REFERENCES document (k),
  position INTEGER NOT NULL,
  kind TEXT NOT NULL,
  root BLOB NOT NULL UNIQUE,
  title TEXT NOT NULL,
  nodes INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  modified_at INTEGER NOT NULL,
  trashed_at INTEGER,
  trashed_by INTEGER REFERENCES actor (k),
  nonce BLOB NOT NULL,
  -- The sequence number and the chain value of the newest change.
  head INTEGER NOT NULL,
  chain BLOB NOT NULL,
  -- The sequence number of the newest keyframe; 0: none.
  key_seq INTEGER NOT NULL DEFAULT 0,
  -- The version number of the newest history entry.
  version INTEGER NOT NULL
);
CREATE INDEX document_by_place ON document (workspace, parent, position);

-- The truth: CRDT updates (v1), appended, never changed; packed ones go on in segment.
CREATE TABLE update_log (
  document INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  body BLOB NOT NULL,
  PRIMARY KEY (document, seq)
) WITHOUT ROWID;

-- Runs of updates, each with its length (32 bits), compressed with zstd.
CREATE TABLE segment (
  document INTEGER NOT NULL,
  first INTEGER NOT NULL,
  last INTEGER NOT NULL,
  body BLOB NOT NULL,
  UNIQUE (document, first)
);

-- Whole states (v2, zstd), so that no state is far from one.
CREATE TABLE keyframe (document INTEGER NOT NULL, seq INTEGER NOT NULL, body BLOB NOT NULL, UNIQUE (document, seq));

-- The chain values that revisions name; never dropped.
CREATE TABLE change (
  document INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  chain BLOB NOT NULL,
  PRIMARY KEY (document, seq)
) WITHOUT ROWID;

-- History. A change with two markers is one row: "before" has the ID as stored (its last bit is 0) and
-- this version, "after" the ID with its last bit set and the next version.
CREATE TABLE entry (
  id BLOB PRIMARY KEY,
  document INTEGER NOT NULL,
  version INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  paired INTEGER NOT NULL,
  reason INTEGER NOT NULL,
  at INTEGER NOT NULL,
  actor INTEGER NOT NULL REFERENCES actor (k),
  label TEXT,
  message TEXT
) WITHOUT ROWID;
CREATE UNIQUE INDEX entry_by_version ON entry (document, version);

-- What makes a repeated call harmless. key: the bridge's, one a call; digest: of the input.
CREATE TABLE receipt (
  key BLOB PRIMARY KEY,
  document INTEGER NOT NULL,
  digest BLOB NOT NULL,
  entry BLOB NOT NULL
) WITHOUT ROWID;
CREATE INDEX receipt_by_digest ON receipt (document, digest);

CREATE TABLE creation (
  workspace INTEGER NOT NULL,
  key BLOB NOT NULL,
  digest BLOB NOT NULL,
  document INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (workspace, key)
) WITHOUT ROWID;

-- Which property of which node was changed last by which change. No row: not since the node was made.
CREATE TABLE touched (
  document INTEGER NOT NULL,
  node BLOB NOT NULL,
  property TEXT NOT NULL,
  seq INTEGER NOT NULL,
  actor INTEGER NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (document, node, property)
) WITHOUT ROWID;

-- The links of live nodes, in the order in which they stand in the node's text.
CREATE TABLE link (
  document INTEGER NOT NULL,
  node BLOB NOT NULL,
  place INTEGER NOT NULL,
  target BLOB NOT NULL,
  target_node BLOB,
  label TEXT,
  PRIMARY KEY (document, node, place)
) WITHOUT ROWID;
CREATE INDEX link_by_target ON link (target);

-- folded: the name without case, which tells tags apart. k: never that of another tag again, since lists of hits
-- that are kept for a while name it.
CREATE TABLE tag (
  k INTEGER PRIMARY KEY AUTOINCREMENT,
  id BLOB NOT NULL UNIQUE,
  workspace INTEGER NOT NULL,
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  parent INTEGER REFERENCES tag (k),
  UNIQUE (workspace, folded)
);
CREATE INDEX tag_by_parent ON tag (parent);
-- IDs that documents still carry, of tags that were merged into another one (tag) or removed (NULL).
CREATE TABLE tag_former (
  id BLOB PRIMARY KEY,
  workspace INTEGER NOT NULL,
  tag INTEGER REFERENCES tag (k)
) WITHOUT ROWID;
CREATE INDEX tag_former_by_tag ON tag_former (tag);
-- tag: the ID as the document has it, former or not.
CREATE TABLE tag_use (
  tag BLOB NOT NULL,
  document INTEGER NOT NULL,
  node BLOB NOT NULL,
  PRIMARY KEY (tag, document, node)
) WITHOUT ROWID;

-- kinds and options are JSON lists of texts.
CREATE TABLE attribute (
  workspace INTEGER NOT NULL,
  key TEXT NOT NULL,
  label TEXT NOT NULL,
  kinds TEXT NOT NULL,
  options TEXT,
  PRIMARY KEY (workspace, key)
) WITHOUT ROWID;
CREATE TABLE attribute_use (
  key TEXT NOT NULL,
  document INTEGER NOT NULL,
  node BLOB NOT NULL,
  PRIMARY KEY (key, document, node)
) WITHOUT ROWID;

-- Where blocks went: a link that names the old document follows them. The newest row of a node and a
-- document it left counts.
CREATE TABLE departure (
  node BLOB NOT NULL,
  source BLOB NOT NULL,
  target BLOB NOT NULL,
  PRIMARY KEY (node, source)
) WITHOUT ROWID;
CREATE INDEX departure_by_target ON departure (target);

-- What an extraction was answered with besides its source's entry, for a repeat of the call.
CREATE TABLE extraction (
  entry BLOB PRIMARY KEY,
  target INTEGER NOT NULL,
  target_entry BLOB NOT NULL,
  link BLOB NOT NULL
) WITHOUT ROWID;
