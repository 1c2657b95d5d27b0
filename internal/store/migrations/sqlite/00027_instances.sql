-- +goose Up

-- The instances that have the store open. Each writes its row when its readiness is
-- asked for, and once a minute: a database that takes that write takes others.
CREATE TABLE instances (
    id      TEXT NOT NULL PRIMARY KEY,
    seen_at INTEGER NOT NULL -- microseconds since 1970
) STRICT;
CREATE INDEX instances_by_time ON instances (seen_at);
