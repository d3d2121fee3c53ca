-- Search. All of it follows from the documents and can be made again from them.

-- How often the rows below fell behind the document since they said all that it says.
ALTER TABLE document ADD COLUMN unindexed INTEGER NOT NULL DEFAULT 1;
CREATE INDEX document_unindexed ON document (modified_at, k) WHERE unindexed > 0;

-- The live nodes. k: never of another node while the service runs. kind: search::memory::KindCode. parent: k of the
-- node that it is shown under. row: its row of search_head or search_body; 0: it has no words. text: as it
-- is searched and shown, with U+FFFC for each inline that shows its target's name.
CREATE TABLE search_node (
  k INTEGER PRIMARY KEY,
  document INTEGER NOT NULL,
  node BLOB NOT NULL,
  kind INTEGER NOT NULL,
  parent INTEGER,
  row INTEGER NOT NULL,
  text TEXT NOT NULL
);
-- A node is found by its document and the end of its ID, which keeps the index small.
CREATE INDEX search_node_at ON search_node (document, substr(node, 13));

-- More rows of a node. part 0: its attributes' values; 1 and more: what follows of a long text, with the
-- number of its first U+FFFC in the node.
CREATE TABLE search_more (
  row INTEGER PRIMARY KEY,
  node INTEGER NOT NULL,
  part INTEGER NOT NULL,
  inlines INTEGER NOT NULL,
  text TEXT NOT NULL
);
CREATE INDEX search_more_of ON search_more (node, part);

-- Posting lists of folded words: titles, headings and attributes' values; all other texts. A row is never used again, so
-- that the newest text has the highest number.
CREATE VIRTUAL TABLE search_head USING fts5 (t, content = '', contentless_delete = 1, prefix = '1 2 3', tokenize = 'ascii');
CREATE VIRTUAL TABLE search_body USING fts5 (t, content = '', contentless_delete = 1, prefix = '2 3', tokenize = 'ascii');
-- The words of both, with how many rows hold each; they keep nothing.
CREATE VIRTUAL TABLE search_words USING fts5vocab (search_body, row);
CREATE VIRTUAL TABLE search_head_words USING fts5vocab (search_head, row);

-- n: search_node.k; 0: not indexed yet.
ALTER TABLE tag_use ADD COLUMN n INTEGER NOT NULL DEFAULT 0;
ALTER TABLE attribute_use ADD COLUMN n INTEGER NOT NULL DEFAULT 0;
-- kind: the place of the value's kind in ValueKind::ALL; value and exact: see store::comparables.
ALTER TABLE attribute_use ADD COLUMN kind INTEGER;
ALTER TABLE attribute_use ADD COLUMN value;
ALTER TABLE attribute_use ADD COLUMN exact;
CREATE INDEX attribute_use_by_value ON attribute_use (key, kind, value, document, n, exact);
