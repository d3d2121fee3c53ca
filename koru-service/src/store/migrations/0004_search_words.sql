-- How many words a row of search_head or search_body holds, at most 65,535; 0: not counted yet, as all are until they
-- are indexed again (search::worker::LAYOUT_VERSION).
ALTER TABLE search_node ADD COLUMN words INTEGER NOT NULL DEFAULT 0;
ALTER TABLE search_more ADD COLUMN words INTEGER NOT NULL DEFAULT 0;
