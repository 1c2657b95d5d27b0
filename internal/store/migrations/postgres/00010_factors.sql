-- +goose Up

-- The authenticator apps of users: one each. No code of a time step up to last_step
-- counts any more.
CREATE TABLE totp (
    user_id      TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    secret       BYTEA NOT NULL, -- sealed
    last_step    BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT -- NULL: never
);

-- The recovery codes of users, those that were used too.
CREATE TABLE recovery_codes (
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BYTEA NOT NULL, -- SHA-256
    created_at BIGINT NOT NULL,
    used_at    BIGINT, -- NULL: not yet
    PRIMARY KEY (user_id, hash)
);
