-- +goose Up

-- The log contained the ids of runs, with which its readers could continue unfinished runs. From now on execution_id is the digest of the id: its SHA-256 in
-- hexadecimal, here by a function that the store registers. Events that were recorded
-- before get it too, so that all events of a run still have the same. Nothing else about
-- them changes.
DROP TRIGGER events_keep;
UPDATE events SET execution_id = sha256_hex(execution_id) WHERE execution_id <> '';
-- +goose StatementBegin
CREATE TRIGGER events_keep BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
-- +goose StatementEnd
