-- +goose Up

-- Links in mails that work once.
CREATE TABLE links (
    hash       BLOB NOT NULL PRIMARY KEY, -- SHA-256 of the token in the link
    user_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    purpose    TEXT NOT NULL,
    subject    TEXT NOT NULL, -- for a lock: the action of the event that the mail was about
    created_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX links_user ON links (user_id, purpose, subject, created_at);
CREATE INDEX links_expiry ON links (expires_at);
