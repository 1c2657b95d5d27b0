-- +goose Up

-- The browser that has the session, '' for none, and when it was last seen: the page of the account
-- shows one line for each browser.
ALTER TABLE sessions ADD COLUMN browser TEXT NOT NULL DEFAULT '';
ALTER TABLE sessions ADD COLUMN seen_at INTEGER NOT NULL DEFAULT 0; -- microseconds
UPDATE sessions SET seen_at = created_at;
