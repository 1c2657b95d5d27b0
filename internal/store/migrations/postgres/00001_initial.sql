-- +goose Up
-- Times are microseconds since 1970-01-01 UTC. Lists of words are lines. JSON
-- and not JSONB: it is read and written whole, and keeps every text as it came.
-- Keys compare bytes, whatever the locale of the database, as in SQLite.

CREATE TABLE users (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    type       TEXT NOT NULL,
    ou_id      TEXT NOT NULL,
    attributes JSON NOT NULL,
    created_at BIGINT NOT NULL,
    updated_at BIGINT NOT NULL
);

-- The normalized values of identifying attributes. A value belongs to one user, whichever attribute
-- has it: otherwise a username that equals another user's email would identify the wrong user.
CREATE TABLE user_identifiers (
    value   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE
);
CREATE INDEX user_identifiers_user ON user_identifiers (user_id);

CREATE TABLE passwords (
    user_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hash    TEXT NOT NULL,
    set_at  BIGINT NOT NULL
);

CREATE TABLE user_permissions (
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    permission TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, permission)
);

CREATE TABLE credentials (
    id                 BYTEA NOT NULL PRIMARY KEY,
    user_id            TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name               TEXT NOT NULL,
    rp_id              TEXT NOT NULL,
    public_key         BYTEA NOT NULL,
    algorithm          BIGINT NOT NULL,
    attestation_format TEXT NOT NULL,
    aaguid             TEXT NOT NULL,
    attachment         TEXT NOT NULL,
    transports         TEXT,
    sign_count         BIGINT NOT NULL,
    user_verified      BOOLEAN NOT NULL,
    backup_eligible    BOOLEAN NOT NULL,
    backup_state       BOOLEAN NOT NULL,
    created_at         BIGINT NOT NULL,
    last_used_at       BIGINT
);
CREATE INDEX credentials_user ON credentials (user_id, created_at);

CREATE TABLE passkey_sessions (
    owner      TEXT COLLATE "C" NOT NULL,
    ceremony   TEXT COLLATE "C" NOT NULL,
    token_hash BYTEA NOT NULL UNIQUE,
    state      JSON,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (owner, ceremony)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX passkey_sessions_expiry ON passkey_sessions (expires_at);

CREATE TABLE applications (
    id                      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name                    TEXT COLLATE "C" NOT NULL UNIQUE,
    description             TEXT NOT NULL,
    ou_id                   TEXT NOT NULL,
    url                     TEXT NOT NULL,
    logo_url                TEXT NOT NULL,
    tos_uri                 TEXT NOT NULL,
    policy_uri              TEXT NOT NULL,
    auth_flow_id            TEXT NOT NULL,
    registration_flow_id    TEXT NOT NULL,
    registration_enabled    BOOLEAN NOT NULL,
    allowed_user_types      TEXT,
    passkey_allowed_origins TEXT,
    assertion_validity      BIGINT NOT NULL,
    assertion_attributes    TEXT,
    customizations          JSON,
    client_id               TEXT COLLATE "C" UNIQUE,
    created_at              BIGINT NOT NULL,
    updated_at              BIGINT NOT NULL
);

CREATE TABLE flows (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    flow_type      TEXT COLLATE "C" NOT NULL,
    handle         TEXT COLLATE "C" NOT NULL,
    active_version INTEGER NOT NULL,
    last_version   INTEGER NOT NULL,
    read_only      BOOLEAN NOT NULL,
    created_at     BIGINT NOT NULL,
    UNIQUE (flow_type, handle)
);

CREATE TABLE flow_versions (
    flow_id    TEXT COLLATE "C" NOT NULL REFERENCES flows (id) ON DELETE CASCADE,
    version    INTEGER NOT NULL,
    handle     TEXT NOT NULL,
    name       TEXT NOT NULL,
    definition JSON NOT NULL,
    created_at BIGINT NOT NULL,
    PRIMARY KEY (flow_id, version)
);

CREATE TABLE runs (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    revision       BIGINT NOT NULL,
    status         TEXT NOT NULL,
    flow_id        TEXT NOT NULL,
    flow_version   INTEGER NOT NULL,
    application_id TEXT NOT NULL,
    user_id        TEXT NOT NULL,
    node           TEXT NOT NULL,
    state          JSON,
    created_at     BIGINT NOT NULL,
    updated_at     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX runs_expiry ON runs (expires_at);

CREATE TABLE events (
    at             BIGINT NOT NULL,
    id             TEXT COLLATE "C" NOT NULL,
    action         TEXT NOT NULL,
    user_id        TEXT NOT NULL,
    application_id TEXT NOT NULL,
    execution_id   TEXT NOT NULL,
    trace_id       TEXT NOT NULL,
    detail         JSON,
    PRIMARY KEY (at, id)
);

CREATE TABLE signing_keys (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    algorithm  TEXT COLLATE "C" NOT NULL,
    private    BYTEA NOT NULL,
    status     TEXT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE UNIQUE INDEX signing_keys_one_signs ON signing_keys (algorithm) WHERE status = 'signing';

-- One row once the store has been seeded, never more.
CREATE TABLE seeding (
    one     INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    done_at BIGINT NOT NULL
);
