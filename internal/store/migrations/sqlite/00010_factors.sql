-- +goose Up

-- The authenticator apps of users: one each. No code of a time step up to last_step
-- counts any more.
CREATE TABLE totp (
    user_id      TEXT NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    secret       BLOB NOT NULL, -- sealed
    last_step    INTEGER NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER -- NULL: never
) STRICT, WITHOUT ROWID;

-- The recovery codes of users, those that were used too.
CREATE TABLE recovery_codes (
    user_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BLOB NOT NULL, -- SHA-256
    created_at INTEGER NOT NULL,
    used_at    INTEGER, -- NULL: not yet
    PRIMARY KEY (user_id, hash)
) STRICT, WITHOUT ROWID;
