-- +goose Up

-- What is to be sent to others. Who sends it puts not_before off until then, and so
-- has it to themselves for that long; attempts says whose turn it is.
CREATE TABLE deliveries (
    id         TEXT NOT NULL PRIMARY KEY,
    kind       TEXT NOT NULL,
    target     TEXT NOT NULL,
    body       BLOB NOT NULL,
    attempts   INTEGER NOT NULL,
    not_before INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX deliveries_due ON deliveries (kind, not_before, target);
CREATE INDEX deliveries_expiry ON deliveries (expires_at);
