-- +goose Up
-- The normalised email addresses of users, verified or not. An address that is not
-- verified identifies no user, so several users may have it; user_identifiers has those
-- that are verified. Migration 19 (migrate_emails.go) fills the table, and removes the
-- addresses that are not verified from user_identifiers.
CREATE TABLE user_emails (
    value   TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (value, user_id)
);
CREATE UNIQUE INDEX user_emails_user ON user_emails (user_id);
