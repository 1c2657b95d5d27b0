-- +goose Up

-- Authorization requests, from when they are accepted until they expire. Of the
-- code that answers one only the hash is kept, and the row stays behind it for a
-- while, so that a second use is noticed.
CREATE TABLE auth_requests (
    id              TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    application_id  TEXT COLLATE "C" NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    client_id       TEXT NOT NULL,
    redirect_uri    TEXT NOT NULL,
    response_mode   TEXT NOT NULL,
    state           TEXT NOT NULL,
    nonce           TEXT NOT NULL,
    scopes          TEXT,
    resources       TEXT,
    code_challenge  TEXT NOT NULL,
    login_hint      TEXT NOT NULL,
    login           TEXT NOT NULL, -- JSON
    browser_hash    BYTEA NOT NULL, -- SHA-256
    granted         TEXT,          -- JSON
    code_hash       BYTEA UNIQUE,   -- SHA-256
    code_expires_at BIGINT,
    redeemed_at     BIGINT,
    created_at      BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL
);
CREATE INDEX auth_requests_expiry ON auth_requests (expires_at);
CREATE INDEX auth_requests_application ON auth_requests (application_id);

-- A family of refresh tokens has the id of the request it comes from, and counts
-- its generations. It goes with the session and the client.
CREATE TABLE refresh_families (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    session_id     TEXT COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    application_id TEXT COLLATE "C" NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    client_id      TEXT NOT NULL,
    scopes         TEXT,
    resources      TEXT,
    granted        TEXT NOT NULL, -- JSON
    generation     BIGINT NOT NULL,
    rotated_at     BIGINT NOT NULL,
    created_at     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL
);
CREATE INDEX refresh_families_expiry ON refresh_families (expires_at);
CREATE INDEX refresh_families_session ON refresh_families (session_id);
CREATE INDEX refresh_families_application ON refresh_families (application_id);

-- A browser knows a session by a cookie. It forgets the session when that would
-- have ended by itself; for refresh tokens it may last longer.
ALTER TABLE sessions ADD COLUMN token_hash BYTEA; -- SHA-256
ALTER TABLE sessions ADD COLUMN token_expires_at BIGINT;
CREATE UNIQUE INDEX sessions_token ON sessions (token_hash) WHERE token_hash IS NOT NULL;
