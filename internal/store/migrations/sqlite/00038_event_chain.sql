-- +goose Up

-- Where a request came from and what it changed. Earlier events have none of it.
ALTER TABLE events ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN session_id TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN changes TEXT;

-- The events that have no seal yet. All events of an earlier version get one.
CREATE TABLE unsealed_events (
    at INTEGER NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (at, id)
) STRICT, WITHOUT ROWID;
INSERT INTO unsealed_events (at, id) SELECT at, id FROM events;
-- +goose StatementBegin
CREATE TRIGGER events_unsealed AFTER INSERT ON events
BEGIN INSERT INTO unsealed_events (at, id) VALUES (NEW.at, NEW.id); END;
-- +goose StatementEnd

-- The hash chain over the events: see eventchain.go. event_chain is its end.
CREATE TABLE event_seals (
    seq    INTEGER NOT NULL PRIMARY KEY,
    at     INTEGER NOT NULL,
    id     TEXT NOT NULL,
    digest BLOB NOT NULL,
    hash   BLOB NOT NULL,
    key_id TEXT NOT NULL,
    mac    BLOB NOT NULL
) STRICT;
CREATE TABLE event_chain (
    one  INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    seq  INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
INSERT INTO event_chain (one, seq, hash) VALUES (1, 0, x'');
