-- +goose Up

-- Where the forwarding of the audit log to each sink stands: seq is the last seal that the sink has
-- received, and holder the instance that forwards to it until held_until.
CREATE TABLE event_sinks (
    name       TEXT NOT NULL PRIMARY KEY,
    seq        INTEGER NOT NULL,
    holder     TEXT NOT NULL,
    held_until INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
