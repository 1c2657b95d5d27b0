-- +goose Up

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
