-- +goose Up

-- The other OpenID providers with which users sign in.
CREATE TABLE identity_providers (
    id                         TEXT NOT NULL PRIMARY KEY,
    handle                     TEXT NOT NULL UNIQUE,
    name                       TEXT NOT NULL,
    issuer                     TEXT NOT NULL,
    client_id                  TEXT NOT NULL,
    secret                     BLOB, -- sealed; NULL: none
    token_endpoint_auth_method TEXT NOT NULL,
    scopes                     TEXT, -- lines
    created_at                 INTEGER NOT NULL,
    updated_at                 INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The identities of users at the providers. They are deleted with the user; a provider with linked
-- identities cannot be deleted.
CREATE TABLE identities (
    id           TEXT NOT NULL PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    provider_id  TEXT NOT NULL REFERENCES identity_providers (id),
    subject      TEXT NOT NULL,
    name         TEXT NOT NULL,
    created_at   INTEGER NOT NULL,
    last_used_at INTEGER, -- NULL: never
    UNIQUE (provider_id, subject)
) STRICT, WITHOUT ROWID;
CREATE INDEX identities_user ON identities (user_id, created_at, id);
