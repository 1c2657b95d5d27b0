-- +goose Up

-- What is to be sent to others. Who sends it puts not_before off until then, and so
-- has it to themselves for that long; attempts says whose turn it is.
CREATE TABLE deliveries (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    kind       TEXT COLLATE "C" NOT NULL,
    target     TEXT COLLATE "C" NOT NULL,
    body       BYTEA NOT NULL,
    attempts   INTEGER NOT NULL,
    not_before BIGINT NOT NULL,
    expires_at BIGINT NOT NULL,
    created_at BIGINT NOT NULL
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX deliveries_due ON deliveries (kind, not_before, target);
CREATE INDEX deliveries_expiry ON deliveries (expires_at);
