-- What files hold. The bytes stand beside the database, in files/ under their hash (BLAKE3, 32 bytes);
-- a row is written only once they are on the disk. pieces: for each MiB the value that it must hash to,
-- 32 bytes each, of which the hash is made.
CREATE TABLE content (
  k INTEGER PRIMARY KEY,
  hash BLOB NOT NULL UNIQUE,
  size INTEGER NOT NULL,
  pieces BLOB NOT NULL
);

-- The files of a workspace. folded: the name without case, for searching. root: the ID that the title
-- node of its note has or will have. note: the document, once there is one.
CREATE TABLE file (
  k INTEGER PRIMARY KEY,
  id BLOB NOT NULL UNIQUE,
  workspace INTEGER NOT NULL REFERENCES workspace (k),
  name TEXT NOT NULL,
  folded TEXT NOT NULL,
  mime TEXT NOT NULL,
  content INTEGER NOT NULL REFERENCES content (k),
  root BLOB NOT NULL UNIQUE,
  note INTEGER REFERENCES document (k),
  added_at INTEGER NOT NULL
);
CREATE INDEX file_by_workspace ON file (workspace, k);
CREATE INDEX file_by_content ON file (content);

-- The attachments of live nodes, as link has their links. Earlier releases had no files, so what their
-- documents name is nowhere, and needs no rows.
CREATE TABLE attachment (
  document INTEGER NOT NULL,
  node BLOB NOT NULL,
  place INTEGER NOT NULL,
  file BLOB NOT NULL,
  label TEXT,
  PRIMARY KEY (document, node, place)
) WITHOUT ROWID;
CREATE INDEX attachment_by_file ON attachment (file);
