-- +goose Up
-- Times are microseconds since 1970-01-01 UTC. Lists of words are lines.

CREATE TABLE users (
    id         TEXT NOT NULL PRIMARY KEY,
    type       TEXT NOT NULL,
    ou_id      TEXT NOT NULL,
    attributes TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The normalized values of identifying attributes. A value belongs to one user, whichever attribute
-- has it: otherwise a username that equals another user's email would identify the wrong user.
CREATE TABLE user_identifiers (
    value   TEXT NOT NULL PRIMARY KEY,
    user_id TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX user_identifiers_user ON user_identifiers (user_id);

CREATE TABLE passwords (
    user_id TEXT NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hash    TEXT NOT NULL,
    set_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE user_permissions (
    user_id    TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    permission TEXT NOT NULL,
    PRIMARY KEY (user_id, permission)
) STRICT, WITHOUT ROWID;

CREATE TABLE credentials (
    id                 BLOB NOT NULL PRIMARY KEY,
    user_id            TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name               TEXT NOT NULL,
    rp_id              TEXT NOT NULL,
    public_key         BLOB NOT NULL,
    algorithm          INTEGER NOT NULL,
    attestation_format TEXT NOT NULL,
    aaguid             TEXT NOT NULL,
    attachment         TEXT NOT NULL,
    transports         TEXT,
    sign_count         INTEGER NOT NULL,
    user_verified      INTEGER NOT NULL,
    backup_eligible    INTEGER NOT NULL,
    backup_state       INTEGER NOT NULL,
    created_at         INTEGER NOT NULL,
    last_used_at       INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX credentials_user ON credentials (user_id, created_at);

CREATE TABLE passkey_sessions (
    owner      TEXT NOT NULL,
    ceremony   TEXT NOT NULL,
    token_hash BLOB NOT NULL UNIQUE,
    state      TEXT,
    expires_at INTEGER NOT NULL,
    PRIMARY KEY (owner, ceremony)
) STRICT;
CREATE INDEX passkey_sessions_expiry ON passkey_sessions (expires_at);

CREATE TABLE applications (
    id                      TEXT NOT NULL PRIMARY KEY,
    name                    TEXT NOT NULL UNIQUE,
    description             TEXT NOT NULL,
    ou_id                   TEXT NOT NULL,
    url                     TEXT NOT NULL,
    logo_url                TEXT NOT NULL,
    tos_uri                 TEXT NOT NULL,
    policy_uri              TEXT NOT NULL,
    auth_flow_id            TEXT NOT NULL,
    registration_flow_id    TEXT NOT NULL,
    registration_enabled    INTEGER NOT NULL,
    allowed_user_types      TEXT,
    passkey_allowed_origins TEXT,
    assertion_validity      INTEGER NOT NULL,
    assertion_attributes    TEXT,
    customizations          TEXT,
    client_id               TEXT UNIQUE,
    created_at              INTEGER NOT NULL,
    updated_at              INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE flows (
    id             TEXT NOT NULL PRIMARY KEY,
    flow_type      TEXT NOT NULL,
    handle         TEXT NOT NULL,
    active_version INTEGER NOT NULL,
    last_version   INTEGER NOT NULL,
    read_only      INTEGER NOT NULL,
    created_at     INTEGER NOT NULL,
    UNIQUE (flow_type, handle)
) STRICT, WITHOUT ROWID;

CREATE TABLE flow_versions (
    flow_id    TEXT NOT NULL REFERENCES flows (id) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    handle     TEXT NOT NULL,
    name       TEXT NOT NULL,
    definition TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (flow_id, version)
) STRICT;

CREATE TABLE runs (
    id             TEXT NOT NULL PRIMARY KEY,
    revision       INTEGER NOT NULL,
    status         TEXT NOT NULL,
    flow_id        TEXT NOT NULL,
    flow_version   INTEGER NOT NULL,
    application_id TEXT NOT NULL,
    user_id        TEXT NOT NULL,
    node           TEXT NOT NULL,
    state          TEXT,
    created_at     INTEGER NOT NULL,
    updated_at     INTEGER NOT NULL,
    expires_at     INTEGER NOT NULL
) STRICT;
CREATE INDEX runs_expiry ON runs (expires_at);

CREATE TABLE events (
    at             INTEGER NOT NULL,
    id             TEXT NOT NULL,
    action         TEXT NOT NULL,
    user_id        TEXT NOT NULL,
    application_id TEXT NOT NULL,
    execution_id   TEXT NOT NULL,
    trace_id       TEXT NOT NULL,
    detail         TEXT,
    PRIMARY KEY (at, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE signing_keys (
    id         TEXT NOT NULL PRIMARY KEY,
    algorithm  TEXT NOT NULL,
    private    BLOB NOT NULL,
    status     TEXT NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX signing_keys_one_signs ON signing_keys (algorithm) WHERE status = 'signing';

-- One row once the store has been seeded, never more.
CREATE TABLE seeding (
    one     INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    done_at INTEGER NOT NULL
) STRICT;
