-- +goose Up

-- Used client assertions (RFC 7523 §3): each is valid once, on any instance, and is stored until it
-- expires.
CREATE TABLE client_assertions (
    hash       BLOB NOT NULL PRIMARY KEY, -- SHA-256 of the client and the jti
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX client_assertions_expiry ON client_assertions (expires_at);
