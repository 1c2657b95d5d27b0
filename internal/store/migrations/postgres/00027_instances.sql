-- +goose Up

-- The instances that have the store open. Each writes its row when its readiness is
-- asked for, and once a minute: a database that takes that write takes others.
CREATE TABLE instances (
    id      TEXT PRIMARY KEY,
    seen_at BIGINT NOT NULL -- microseconds since 1970
);
CREATE INDEX instances_by_time ON instances (seen_at);
