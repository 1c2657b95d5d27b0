-- +goose Up
-- compatible: no, it creates the schema

-- This is the schema of version 47. Stores of earlier builds reached it in 40 steps.
--
-- Times are microseconds since 1970-01-01 UTC. Lists of words are lines. JSON and not JSONB: it is read
-- and written whole, and keeps each text as it was. COLLATE "C" compares bytes, whatever the locale of
-- the database. dialect.go describes how the statements are adapted to each database.

-- only cockroachdb
-- CockroachDB recommends one schema change for each transaction.
-- +goose NO TRANSACTION
-- all

-- Resources are listed by id. Two consecutive changes of one have different updated_at, from which its
-- entity tag is made.

CREATE TABLE organization_units (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    handle      TEXT COLLATE "C" NOT NULL UNIQUE,
    name        TEXT COLLATE "C" NOT NULL,
    description TEXT NOT NULL,
    parent_id   TEXT COLLATE "C" REFERENCES organization_units (id),
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL,
    logo_url    TEXT NOT NULL DEFAULT '' -- of the picture on hosted pages: an https or data URL; '' for none
);
CREATE INDEX organization_units_parent ON organization_units (parent_id, id);

CREATE TABLE user_types (
    id                TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name              TEXT COLLATE "C" NOT NULL UNIQUE,
    description       TEXT NOT NULL,
    ou_id             TEXT COLLATE "C" NOT NULL REFERENCES organization_units (id),
    definition        TEXT NOT NULL, -- the JSON Schema
    unique_attributes TEXT,          -- those that it marks x-unique
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL,
    -- Among which users identifiers are unique: '' for all users, 'userType' for those of the type. The
    -- values of a type with its own scope start with the name of the type and the character U+001F in
    -- user_identifiers, user_emails and user_unique_values.
    identifier_scope  TEXT NOT NULL DEFAULT '' CHECK (identifier_scope IN ('', 'userType'))
);
CREATE INDEX user_types_ou ON user_types (ou_id, id);
CREATE INDEX user_types_scope ON user_types (identifier_scope, name);

CREATE TABLE users (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    type         TEXT NOT NULL REFERENCES user_types (name),
    ou_id        TEXT NOT NULL REFERENCES organization_units (id),
    attributes   JSON NOT NULL,
    created_at   BIGINT NOT NULL,
    updated_at   BIGINT NOT NULL,
    status       TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled')),
    locked_until BIGINT -- NULL: not locked
);
CREATE INDEX users_ou ON users (ou_id, id);
CREATE INDEX users_type ON users (type, id);

-- The normalized values of identifying attributes. A value belongs to one user, whichever attribute
-- has it: otherwise a username that equals another user's email would identify the wrong user. username
-- is the value without the prefix of the scope, for lists; it is NULL for an address that is no username.
CREATE TABLE user_identifiers (
    value    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id  TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    username TEXT COLLATE "C"
);
CREATE INDEX user_identifiers_user ON user_identifiers (user_id);
CREATE INDEX user_identifiers_username ON user_identifiers (username, user_id) WHERE username IS NOT NULL;

-- The normalized email addresses of users, verified or not. An unverified address identifies no user, so
-- several users may have it; user_identifiers has the verified ones. address is the value without the
-- prefix of the scope.
CREATE TABLE user_emails (
    value   TEXT COLLATE "C" NOT NULL,
    user_id TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    address TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (value, user_id)
);
CREATE UNIQUE INDEX user_emails_user ON user_emails (user_id);
CREATE INDEX user_emails_address ON user_emails (address, user_id);

-- The values of the attributes that user types mark x-unique, except the identifying ones.
CREATE TABLE user_unique_values (
    attribute TEXT COLLATE "C" NOT NULL,
    value     TEXT COLLATE "C" NOT NULL,
    user_id   TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (attribute, value)
);
CREATE INDEX user_unique_values_user ON user_unique_values (user_id);

-- added_by, here and below, is the sign-in that added a credential to an existing account: its class
-- (acr) and methods (amr), separated by spaces; '' for a credential without a limit.
CREATE TABLE passwords (
    user_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    hash     TEXT NOT NULL,
    set_at   BIGINT NOT NULL,
    id       TEXT COLLATE "C" NOT NULL DEFAULT '', -- differs from that of the user's earlier passwords
    added_by TEXT NOT NULL DEFAULT ''
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
    last_used_at       BIGINT,
    attested           BOOLEAN NOT NULL DEFAULT FALSE, -- its attestation chained to a trust anchor
    added_by           TEXT NOT NULL DEFAULT ''
);
CREATE INDEX credentials_user ON credentials (user_id, created_at);

-- The authenticator app of a user. Codes of time steps up to last_step are used.
CREATE TABLE totp (
    user_id      TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    secret       BYTEA NOT NULL, -- sealed
    last_step    BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT, -- NULL: never
    added_by     TEXT NOT NULL DEFAULT ''
);

-- The recovery codes of users, used ones included.
CREATE TABLE recovery_codes (
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    hash       BYTEA NOT NULL, -- SHA-256
    created_at BIGINT NOT NULL,
    used_at    BIGINT, -- NULL: not yet
    added_by   TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (user_id, hash)
);

-- The other OpenID providers with which users sign in.
CREATE TABLE identity_providers (
    id                         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    handle                     TEXT COLLATE "C" NOT NULL UNIQUE,
    name                       TEXT NOT NULL,
    issuer                     TEXT NOT NULL,
    client_id                  TEXT NOT NULL,
    secret                     BYTEA, -- sealed; NULL: none
    token_endpoint_auth_method TEXT NOT NULL,
    scopes                     TEXT, -- lines
    created_at                 BIGINT NOT NULL,
    updated_at                 BIGINT NOT NULL
);

-- The identities of users at the providers. They are deleted with the user; a provider with linked
-- identities cannot be deleted.
CREATE TABLE identities (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    provider_id  TEXT COLLATE "C" NOT NULL REFERENCES identity_providers (id),
    subject      TEXT COLLATE "C" NOT NULL,
    name         TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    last_used_at BIGINT, -- NULL: never
    UNIQUE (provider_id, subject)
);
CREATE INDEX identities_user ON identities (user_id, created_at, id);

-- Unfinished passkey ceremonies.
CREATE TABLE passkey_sessions (
    owner      TEXT COLLATE "C" NOT NULL,
    ceremony   TEXT COLLATE "C" NOT NULL,
    token_hash BYTEA NOT NULL UNIQUE,
    state      JSON,
    expires_at BIGINT NOT NULL,
    PRIMARY KEY (owner, ceremony)
); -- rowid
CREATE INDEX passkey_sessions_expiry ON passkey_sessions (expires_at);

-- How many guesses of passwords and codes have failed in a row, for each name or device that they were
-- made with. The digest is keyed, so that the table does not contain the names.
CREATE TABLE failed_guesses (
    digest    BYTEA NOT NULL PRIMARY KEY, -- HMAC-SHA-256
    user_id   TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE, -- NULL: no user has the name
    failures  BIGINT NOT NULL,
    failed_at BIGINT NOT NULL, -- the last one
    secret    TEXT NOT NULL DEFAULT '' -- the kind of the guessed secret; '' for any kind
);
CREATE INDEX failed_guesses_by_user ON failed_guesses (user_id, failed_at);

-- Links in mails that work once.
CREATE TABLE links (
    hash       BYTEA NOT NULL PRIMARY KEY, -- SHA-256 of the token in the link
    user_id    TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    purpose    TEXT COLLATE "C" NOT NULL,
    subject    TEXT COLLATE "C" NOT NULL, -- for a lock: the action of the event that the mail was about
    created_at BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    run_id     TEXT COLLATE "C" NOT NULL DEFAULT '' -- that has accepted the invitation; '' for none
);
CREATE INDEX links_user ON links (user_id, purpose, subject, created_at);
CREATE INDEX links_expiry ON links (expires_at);

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
CREATE INDEX flows_type ON flows (flow_type, id);
CREATE INDEX flows_handle ON flows (handle, id);

-- parts are the sub-flows that the version uses, complete, so that its meaning depends on nothing else.
-- The author is the actor that stored the version; the type '' means that it is not known.
CREATE TABLE flow_versions (
    flow_id       TEXT COLLATE "C" NOT NULL REFERENCES flows (id) ON DELETE CASCADE,
    version       INTEGER NOT NULL,
    handle        TEXT NOT NULL,
    name          TEXT NOT NULL,
    definition    JSON NOT NULL,
    created_at    BIGINT NOT NULL,
    parts         JSON, -- NULL: none
    author_type   TEXT COLLATE "C" NOT NULL DEFAULT '',
    author_id     TEXT COLLATE "C" NOT NULL DEFAULT '',
    author_client TEXT COLLATE "C" NOT NULL DEFAULT '',
    reason        TEXT COLLATE "C" NOT NULL DEFAULT '',
    PRIMARY KEY (flow_id, version)
); -- rowid

-- The sub-flows that versions use. A sub-flow that only older versions use may be deleted.
CREATE TABLE flow_uses (
    flow_id      TEXT COLLATE "C" NOT NULL,
    version      INTEGER NOT NULL,
    used_id      TEXT COLLATE "C" NOT NULL,
    used_version INTEGER NOT NULL,
    PRIMARY KEY (flow_id, version, used_id),
    FOREIGN KEY (flow_id, version) REFERENCES flow_versions (flow_id, version) ON DELETE CASCADE
);
CREATE INDEX flow_uses_used ON flow_uses (used_id);

-- The last versions of deleted flows. The versions of a new flow with the id follow on these: a version
-- of an id never has two definitions.
CREATE TABLE deleted_flows (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    last_version INTEGER NOT NULL
);

-- A flow id '' stands for no flow. The generated columns have NULL for it, which refers to nothing.
CREATE TABLE applications (
    id                      TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name                    TEXT COLLATE "C" NOT NULL UNIQUE,
    description             TEXT NOT NULL,
    ou_id                   TEXT NOT NULL REFERENCES organization_units (id),
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
    updated_at              BIGINT NOT NULL,
    type                    TEXT NOT NULL DEFAULT '',
    contacts                TEXT,
    auth_flow               TEXT COLLATE "C" GENERATED ALWAYS AS (NULLIF(auth_flow_id, '')) STORED REFERENCES flows (id),
    registration_flow       TEXT COLLATE "C" GENERATED ALWAYS AS (NULLIF(registration_flow_id, '')) STORED REFERENCES flows (id),
    require_consent         BOOLEAN NOT NULL DEFAULT FALSE,
    registration            TEXT COLLATE "C" NOT NULL DEFAULT '', -- how a client registered itself; '' if an administrator created it
    verified                BOOLEAN NOT NULL DEFAULT FALSE,
    token_generation        TEXT COLLATE "C" NOT NULL DEFAULT '', -- tokens of other generations are invalid
    recovery_flow_id        TEXT COLLATE "C" NOT NULL DEFAULT '',
    recovery_flow           TEXT COLLATE "C" GENERATED ALWAYS AS (NULLIF(recovery_flow_id, '')) STORED REFERENCES flows (id),
    invitation_flow_id      TEXT COLLATE "C" NOT NULL DEFAULT '',
    invitation_flow         TEXT COLLATE "C" GENERATED ALWAYS AS (NULLIF(invitation_flow_id, '')) STORED REFERENCES flows (id),
    address_flow_id         TEXT COLLATE "C" NOT NULL DEFAULT '',
    address_flow            TEXT COLLATE "C" GENERATED ALWAYS AS (NULLIF(address_flow_id, '')) STORED REFERENCES flows (id)
);
CREATE INDEX applications_ou ON applications (ou_id, id);
CREATE INDEX applications_type ON applications (type, id);
CREATE INDEX applications_registration ON applications (registration, id);
CREATE INDEX applications_auth_flow ON applications (auth_flow_id);
CREATE INDEX applications_registration_flow ON applications (registration_flow_id);
CREATE INDEX applications_recovery_flow ON applications (recovery_flow_id);
CREATE INDEX applications_invitation_flow ON applications (invitation_flow_id);
CREATE INDEX applications_address_flow ON applications (address_flow_id);

-- The applications that are OAuth clients. The client id is in applications.
CREATE TABLE oauth_profiles (
    application_id             TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES applications (id) ON DELETE CASCADE,
    secret_hash                BYTEA, -- SHA-256
    redirect_uris              TEXT,
    post_logout_redirect_uris  TEXT,
    grant_types                TEXT,
    response_types             TEXT,
    auth_method                TEXT NOT NULL,
    pkce_required              BOOLEAN NOT NULL,
    public_client              BOOLEAN NOT NULL,
    scopes                     TEXT,
    access_token_validity      BIGINT NOT NULL, -- seconds, 0 for the default
    id_token_validity          BIGINT NOT NULL,
    id_token_alg               TEXT NOT NULL,
    refresh_token_validity     BIGINT NOT NULL,
    jwks                       TEXT,
    jwks_uri                   TEXT NOT NULL,
    backchannel_logout_uri     TEXT NOT NULL DEFAULT '',
    backchannel_logout_session BOOLEAN NOT NULL DEFAULT FALSE
);

-- When untrusted clients expire, and until when their metadata documents are fresh.
CREATE TABLE client_leases (
    application_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES applications (id) ON DELETE CASCADE,
    expires_at     BIGINT NOT NULL,
    fetched_at     BIGINT NOT NULL, -- in the year 1 for a client without a document
    fresh_until    BIGINT NOT NULL
);
CREATE INDEX client_leases_expiry ON client_leases (expires_at);

CREATE TABLE user_groups (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name        TEXT COLLATE "C" NOT NULL UNIQUE,
    description TEXT NOT NULL,
    ou_id       TEXT COLLATE "C" NOT NULL REFERENCES organization_units (id),
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX user_groups_ou ON user_groups (ou_id, id);

-- A row has one of user_id and member_id. A deleted user leaves its groups; a group that is a member of
-- another cannot be deleted.
CREATE TABLE group_members (
    group_id  TEXT COLLATE "C" NOT NULL REFERENCES user_groups (id) ON DELETE CASCADE,
    user_id   TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    member_id TEXT COLLATE "C" REFERENCES user_groups (id),
    CHECK ((user_id IS NULL) <> (member_id IS NULL)),
    UNIQUE (group_id, user_id),
    UNIQUE (group_id, member_id)
); -- rowid
CREATE INDEX group_members_user ON group_members (user_id);
CREATE INDEX group_members_member ON group_members (member_id);

CREATE TABLE resource_servers (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    handle      TEXT COLLATE "C" NOT NULL UNIQUE,
    name        TEXT COLLATE "C" NOT NULL,
    description TEXT NOT NULL,
    identifier  TEXT COLLATE "C" UNIQUE,
    ou_id       TEXT COLLATE "C" NOT NULL REFERENCES organization_units (id),
    read_only   BOOLEAN NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX resource_servers_ou ON resource_servers (ou_id, id);

-- The tree of a resource server with its root: a row for each permission, in order.
CREATE TABLE permissions (
    permission  TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- the path, joined by ":"
    server_id   TEXT COLLATE "C" NOT NULL REFERENCES resource_servers (id) ON DELETE CASCADE,
    position    BIGINT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('server', 'resource', 'action')),
    name        TEXT COLLATE "C" NOT NULL,
    description TEXT NOT NULL
);
CREATE INDEX permissions_server ON permissions (server_id, position);

CREATE TABLE roles (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name        TEXT COLLATE "C" NOT NULL UNIQUE,
    description TEXT NOT NULL,
    ou_id       TEXT COLLATE "C" NOT NULL REFERENCES organization_units (id),
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX roles_ou ON roles (ou_id, id);

-- A permission that a role grants cannot be removed from its resource server.
CREATE TABLE role_permissions (
    role_id    TEXT COLLATE "C" NOT NULL REFERENCES roles (id) ON DELETE CASCADE,
    permission TEXT COLLATE "C" NOT NULL REFERENCES permissions (permission),
    PRIMARY KEY (role_id, permission)
);
CREATE INDEX role_permissions_permission ON role_permissions (permission);

-- A row has one of the three principals.
CREATE TABLE role_assignments (
    role_id        TEXT COLLATE "C" NOT NULL REFERENCES roles (id) ON DELETE CASCADE,
    user_id        TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    group_id       TEXT COLLATE "C" REFERENCES user_groups (id),
    application_id TEXT COLLATE "C" REFERENCES applications (id) ON DELETE CASCADE,
    CHECK (CASE WHEN user_id IS NULL THEN 0 ELSE 1 END + CASE WHEN group_id IS NULL THEN 0 ELSE 1 END
        + CASE WHEN application_id IS NULL THEN 0 ELSE 1 END = 1),
    UNIQUE (role_id, user_id),
    UNIQUE (role_id, group_id),
    UNIQUE (role_id, application_id)
); -- rowid
CREATE INDEX role_assignments_user ON role_assignments (user_id);
CREATE INDEX role_assignments_group ON role_assignments (group_id);
CREATE INDEX role_assignments_application ON role_assignments (application_id);

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
); -- rowid
CREATE INDEX runs_expiry ON runs (expires_at);
CREATE INDEX runs_user ON runs (user_id) WHERE user_id <> '';
CREATE INDEX runs_open_flow ON runs (flow_id, flow_version) WHERE status = 'INCOMPLETE';

-- A browser has the token of a session in a cookie until token_expires_at. For refresh tokens the
-- session may last longer. proofs are the credentials that the session depends on, as JSON; a session
-- with NULL ends with any credential of its methods.
CREATE TABLE sessions (
    id               TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id          TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    application_id   TEXT COLLATE "C" NOT NULL,
    amr              TEXT,
    acr              TEXT NOT NULL,
    client           TEXT NOT NULL,
    created_at       BIGINT NOT NULL,
    expires_at       BIGINT NOT NULL,
    token_hash       BYTEA, -- SHA-256
    token_expires_at BIGINT,
    proofs           TEXT,
    browser          TEXT COLLATE "C" NOT NULL DEFAULT '', -- '' for none
    seen_at          BIGINT NOT NULL DEFAULT 0
);
CREATE INDEX sessions_user ON sessions (user_id, created_at, id);
CREATE INDEX sessions_expiry ON sessions (expires_at);
CREATE UNIQUE INDEX sessions_token ON sessions (token_hash) WHERE token_hash IS NOT NULL;

-- The clients that have received tokens in a session.
CREATE TABLE session_clients (
    session_id     TEXT COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    application_id TEXT COLLATE "C" NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    PRIMARY KEY (session_id, application_id)
);
CREATE INDEX session_clients_application ON session_clients (application_id);

-- Authorization requests, from when they are accepted until they expire. Only the hash of the code is
-- stored, and the row stays for a while after its use, so that a second use is detected.
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
    code_hash       BYTEA UNIQUE,  -- SHA-256
    code_expires_at BIGINT,
    redeemed_at     BIGINT,
    created_at      BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL,
    refused         TEXT, -- JSON: the error for a client that receives no code
    approved        TEXT  -- JSON: what the user approved for an untrusted client
);
CREATE INDEX auth_requests_expiry ON auth_requests (expires_at);
CREATE INDEX auth_requests_application ON auth_requests (application_id);

-- A family of refresh tokens has the id of its authorization request, and counts its generations. It is
-- deleted with the session and the client.
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

-- What users allow clients: a row for each scope, and one without a scope for signing in to the client.
CREATE TABLE consents (
    user_id        TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    application_id TEXT COLLATE "C" NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    scope          TEXT COLLATE "C" NOT NULL,
    granted_at     BIGINT NOT NULL,
    ask_again_at   BIGINT, -- NULL: never
    PRIMARY KEY (user_id, application_id, scope)
);
CREATE INDEX consents_application ON consents (application_id);

-- Tokens that were revoked individually, until they would have expired.
CREATE TABLE revoked_tokens (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- jti
    expires_at BIGINT NOT NULL
);
CREATE INDEX revoked_tokens_expiry ON revoked_tokens (expires_at);

-- Used client assertions (RFC 7523 §3): each is valid once, on any instance, and is stored until it
-- expires.
CREATE TABLE client_assertions (
    hash       BYTEA NOT NULL PRIMARY KEY, -- SHA-256 of the client and the jti
    expires_at BIGINT NOT NULL
);
CREATE INDEX client_assertions_expiry ON client_assertions (expires_at);

-- Outgoing messages. A sender moves not_before ahead, and has the message to itself until then; attempts
-- identifies the attempt.
CREATE TABLE deliveries (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind       TEXT COLLATE "C" NOT NULL,
    target     TEXT COLLATE "C" NOT NULL,
    body       BYTEA NOT NULL,
    attempts   INTEGER NOT NULL,
    not_before BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL
);
CREATE INDEX deliveries_due ON deliveries (kind, not_before, target);
CREATE INDEX deliveries_expiry ON deliveries (expires_at);

-- A key must be kept until needed_until, because what it has signed may be valid until then. One key
-- waits to follow the one that signs. If two instances publish one at the same time, one succeeds.
CREATE TABLE signing_keys (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    algorithm    TEXT COLLATE "C" NOT NULL,
    private      BYTEA NOT NULL,
    status       TEXT NOT NULL,
    created_at   BIGINT NOT NULL,
    signs_since  BIGINT,
    retired_at   BIGINT,
    needed_until BIGINT
);
CREATE UNIQUE INDEX signing_keys_one_signs ON signing_keys (algorithm) WHERE status = 'signing';
CREATE UNIQUE INDEX signing_keys_one_published ON signing_keys (algorithm) WHERE status = 'published';

-- Keys that were derived from the key-encryption key when the store was created, and whose products are
-- in other hands (refresh tokens, cookies) or must not change (digests, decoys). They are sealed, so that
-- they stay when the key-encryption key changes.
CREATE TABLE derived_keys (
    purpose    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    sealed     BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);

-- The key-encryption keys of the running servers. While a server runs, nothing must be written that it
-- cannot open.
CREATE TABLE instance_keys (
    instance   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    host       TEXT NOT NULL,
    keys       TEXT NOT NULL, -- ids, lines; the first seals
    started_at BIGINT NOT NULL
);

-- The instances that have the store open. Each writes its row once a minute, and when its readiness is
-- checked: a database that accepts this write accepts others.
CREATE TABLE instances (
    id      TEXT NOT NULL PRIMARY KEY,
    seen_at BIGINT NOT NULL
); -- rowid
CREATE INDEX instances_by_time ON instances (seen_at);

-- One row once the store is seeded.
CREATE TABLE seeding (
    one     INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    done_at BIGINT NOT NULL
); -- rowid

-- The number of users, in all and of each type and unit, so that lists need not count them. PostgreSQL
-- counts in shards, because concurrent writers of one row would wait for each other; a count in a shard
-- may be negative.
CREATE TABLE row_counts (
    name   TEXT COLLATE "C" NOT NULL,
    member TEXT COLLATE "C" NOT NULL, -- '' for all
    value  TEXT COLLATE "C" NOT NULL,
    shard  BIGINT NOT NULL,
    n      BIGINT NOT NULL,
    PRIMARY KEY (name, member, value, shard)
);
INSERT INTO row_counts VALUES ('users', '', '', 0, 0);

-- The audit log. execution_id is the SHA-256 of the id of the run, in hexadecimal.
CREATE TABLE events (
    at             BIGINT NOT NULL,
    id             TEXT COLLATE "C" NOT NULL,
    action         TEXT NOT NULL,
    user_id        TEXT NOT NULL,
    application_id TEXT NOT NULL,
    execution_id   TEXT NOT NULL,
    trace_id       TEXT NOT NULL,
    detail         JSON,
    actor_type     TEXT NOT NULL DEFAULT '',
    actor_id       TEXT NOT NULL DEFAULT '',
    actor_client   TEXT NOT NULL DEFAULT '',
    resource_type  TEXT NOT NULL DEFAULT '',
    resource_id    TEXT NOT NULL DEFAULT '',
    before_digest  TEXT NOT NULL DEFAULT '',
    after_digest   TEXT NOT NULL DEFAULT '',
    address        TEXT NOT NULL DEFAULT '',
    user_agent     TEXT NOT NULL DEFAULT '',
    session_id     TEXT NOT NULL DEFAULT '',
    changes        TEXT,
    PRIMARY KEY (at, id)
);
-- The events of each sign-in are in one index only, that of the user: another one would cost a sign-in
-- more than its other writes. Queries by other members read the log backwards.
CREATE INDEX events_user ON events (user_id, at, id) WHERE user_id <> '';
CREATE INDEX events_actor ON events (actor_id, at, id) WHERE actor_id <> '' AND actor_id <> user_id;
CREATE INDEX events_action ON events (action, at, id) WHERE action NOT IN ('passkey.used', 'password.used', 'user.signed_in');
CREATE INDEX events_resource_type ON events (resource_type, at, id) WHERE resource_type <> '';
CREATE INDEX events_resource ON events (resource_id, at, id) WHERE resource_id <> '';

-- Events from kept_from on cannot be removed; kept_from only increases.
CREATE TABLE event_retention (
    one       BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    kept_from BIGINT NOT NULL
); -- rowid
INSERT INTO event_retention VALUES (1, 0);

-- The events that have no seal yet.
CREATE TABLE unsealed_events (
    at BIGINT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (at, id)
);

-- The hash chain over the events: see eventchain.go. event_chain is its end.
CREATE TABLE event_seals (
    seq    BIGINT NOT NULL PRIMARY KEY,
    at     BIGINT NOT NULL,
    id     TEXT NOT NULL,
    digest BYTEA NOT NULL,
    hash   BYTEA NOT NULL,
    key_id TEXT NOT NULL,
    mac    BYTEA NOT NULL
); -- rowid
CREATE TABLE event_chain (
    one  INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    seq  BIGINT NOT NULL,
    hash BYTEA NOT NULL
); -- rowid
-- only sqlite
INSERT INTO event_chain VALUES (1, 0, X'');
-- only postgres, cockroachdb, yugabytedb
INSERT INTO event_chain VALUES (1, 0, '');
-- all

-- The state of forwarding the audit log to each sink: seq is the last seal that the sink has received,
-- and holder the instance that forwards to it until held_until.
CREATE TABLE event_sinks (
    name       TEXT NOT NULL PRIMARY KEY,
    seq        BIGINT NOT NULL,
    holder     TEXT NOT NULL,
    held_until BIGINT NOT NULL
);

-- The number of events by hour, action and reason, for statistics. The sealer of the log counts each
-- event once; see eventcounts.go.
CREATE TABLE event_counts (
    at     BIGINT NOT NULL,
    action TEXT NOT NULL,
    reason TEXT NOT NULL,
    n      BIGINT NOT NULL,
    PRIMARY KEY (at, action, reason)
);

-- The triggers count users, keep events, and queue them for their seal.

-- only sqlite
-- +goose StatementBegin
CREATE TRIGGER users_added AFTER INSERT ON users
BEGIN
    INSERT INTO row_counts VALUES ('users', '', '', 0, 1), ('users', 'type', NEW.type, 0, 1), ('users', 'ouId', NEW.ou_id, 0, 1)
        ON CONFLICT (name, member, value, shard) DO UPDATE SET n = n + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER users_removed AFTER DELETE ON users
BEGIN
    INSERT INTO row_counts VALUES ('users', '', '', 0, -1), ('users', 'type', OLD.type, 0, -1), ('users', 'ouId', OLD.ou_id, 0, -1)
        ON CONFLICT (name, member, value, shard) DO UPDATE SET n = n - 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER users_moved AFTER UPDATE OF type, ou_id ON users WHEN NEW.type <> OLD.type OR NEW.ou_id <> OLD.ou_id
BEGIN
    INSERT INTO row_counts VALUES ('users', 'type', OLD.type, 0, -1), ('users', 'ouId', OLD.ou_id, 0, -1)
        ON CONFLICT (name, member, value, shard) DO UPDATE SET n = n - 1;
    INSERT INTO row_counts VALUES ('users', 'type', NEW.type, 0, 1), ('users', 'ouId', NEW.ou_id, 0, 1)
        ON CONFLICT (name, member, value, shard) DO UPDATE SET n = n + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER events_keep BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER events_stay BEFORE DELETE ON events
WHEN OLD.at >= COALESCE((SELECT kept_from FROM event_retention), 0)
BEGIN SELECT RAISE(ABORT, 'events are never removed before their time'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER events_unsealed AFTER INSERT ON events
BEGIN INSERT INTO unsealed_events (at, id) VALUES (NEW.at, NEW.id); END;
-- +goose StatementEnd

-- only postgres, cockroachdb, yugabytedb
-- CockroachDB has no statement triggers, no UPDATE OF, no PERFORM, and no NEW.x without parentheses. It
-- does not allow that a statement changes a table twice, so each function is one statement.
-- +goose StatementBegin
CREATE FUNCTION count_users() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO row_counts (name, member, value, shard, n)
        SELECT 'users', member, value, pg_backend_pid() % 16, CAST(SUM(change) AS BIGINT)
        FROM (VALUES ('', CASE WHEN TG_OP <> 'INSERT' THEN '' END, -1), ('type', (OLD).type, -1), ('ouId', (OLD).ou_id, -1),
            ('', CASE WHEN TG_OP <> 'DELETE' THEN '' END, 1), ('type', (NEW).type, 1), ('ouId', (NEW).ou_id, 1)) AS counted (member, value, change)
        WHERE value IS NOT NULL GROUP BY member, value HAVING SUM(change) <> 0
        ON CONFLICT (name, member, value, shard) DO UPDATE SET n = row_counts.n + excluded.n;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER users_counted AFTER INSERT OR DELETE ON users FOR EACH ROW EXECUTE FUNCTION count_users();
CREATE TRIGGER users_moved AFTER UPDATE ON users
    FOR EACH ROW WHEN ((OLD).type <> (NEW).type OR (OLD).ou_id <> (NEW).ou_id) EXECUTE FUNCTION count_users();
-- +goose StatementBegin
CREATE FUNCTION keep_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'events are never changed or removed';
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER events_keep BEFORE UPDATE ON events FOR EACH ROW EXECUTE FUNCTION keep_events();
-- +goose StatementBegin
CREATE FUNCTION keep_young_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF (OLD).at >= COALESCE((SELECT kept_from FROM event_retention), 0) THEN
        RAISE EXCEPTION 'events are never removed before their time';
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER events_stay AFTER DELETE ON events FOR EACH ROW EXECUTE FUNCTION keep_young_events();
-- +goose StatementBegin
CREATE FUNCTION queue_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO unsealed_events (at, id) VALUES ((NEW).at, (NEW).id);
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER events_unsealed AFTER INSERT ON events FOR EACH ROW EXECUTE FUNCTION queue_events();

-- only postgres
-- The other databases lack triggers on TRUNCATE and these parameters.
CREATE TRIGGER events_keep_all BEFORE TRUNCATE ON events FOR EACH STATEMENT EXECUTE FUNCTION keep_events();
-- Rows of these tables change often and live for minutes.
ALTER TABLE passkey_sessions SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE runs SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE deliveries SET (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
