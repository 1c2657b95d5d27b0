-- +goose Up

-- Where a request came from and what it changed. Earlier events have none of it.
ALTER TABLE events ADD COLUMN address TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN user_agent TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN session_id TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN changes TEXT;

-- The events that have no seal yet. All events of an earlier version get one.
CREATE TABLE unsealed_events (
    at BIGINT NOT NULL,
    id TEXT NOT NULL,
    PRIMARY KEY (at, id)
);
INSERT INTO unsealed_events (at, id) SELECT at, id FROM events;
-- +goose StatementBegin
CREATE FUNCTION queue_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO unsealed_events (at, id) SELECT at, id FROM added;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER events_unsealed AFTER INSERT ON events REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION queue_events();

-- The hash chain over the events: see eventchain.go. event_chain is its end.
CREATE TABLE event_seals (
    seq    BIGINT NOT NULL PRIMARY KEY,
    at     BIGINT NOT NULL,
    id     TEXT NOT NULL,
    digest BYTEA NOT NULL,
    hash   BYTEA NOT NULL,
    key_id TEXT NOT NULL,
    mac    BYTEA NOT NULL
);
CREATE TABLE event_chain (
    one  INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    seq  BIGINT NOT NULL,
    hash BYTEA NOT NULL
);
INSERT INTO event_chain (one, seq, hash) VALUES (1, 0, '');
