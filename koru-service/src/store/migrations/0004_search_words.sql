-- How many words a row of search_head or search_body holds, at most 65,535; 0: not counted yet, as all are until they
-- are indexed again (search::worker::LAYOUT_VERSION).
ALTER TABLE search_node ADD COLUMN words INTEGER NOT NULL DEFAULT 0;
ALTER TABLE search_more ADD COLUMN words INTEGER NOT NULL DEFAULT 0;

-- Two segments of like size are enough for a merge, when there is nothing else to do (search::worker).
INSERT INTO search_head (search_head, rank) VALUES ('usermerge', 2);
INSERT INTO search_body (search_body, rank) VALUES ('usermerge', 2);
