-- +goose Up

-- Links in mails that work once.
CREATE TABLE links (
    hash       BYTEA NOT NULL PRIMARY KEY, -- SHA-256 of the token in the link
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    purpose    TEXT COLLATE "C" NOT NULL,
    subject    TEXT COLLATE "C" NOT NULL, -- for a lock: the action of the event that the mail was about
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL
);
CREATE INDEX links_user ON links (user_id, purpose, subject, created_at);
CREATE INDEX links_expiry ON links (expires_at);
