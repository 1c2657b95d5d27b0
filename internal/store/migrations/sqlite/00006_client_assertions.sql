-- +goose Up

-- Assertions by which clients have authenticated (RFC 7523 §3): each is good once,
-- on whichever instance, and is remembered until it has expired.
CREATE TABLE client_assertions (
    hash       BLOB NOT NULL PRIMARY KEY, -- SHA-256 of the client and the jti
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX client_assertions_expiry ON client_assertions (expires_at);
