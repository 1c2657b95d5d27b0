-- +goose Up

-- The log has held the ids of runs, by which whoever reads the log could continue a run
-- that is under way. From now on execution_id is the digest of the id: its SHA-256 in
-- hexadecimal, here by a function that the store registers. Events that were recorded
-- before get it too, so that all events of a run still have the same. Nothing else about
-- them changes.
DROP TRIGGER events_keep;
UPDATE events SET execution_id = sha256_hex(execution_id) WHERE execution_id <> '';
-- +goose StatementBegin
CREATE TRIGGER events_keep BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
-- +goose StatementEnd
