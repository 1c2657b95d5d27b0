-- +goose Up

-- The log has held the ids of runs, by which whoever reads the log could continue a run
-- that is under way. From now on execution_id is the digest of the id: its SHA-256 in
-- hexadecimal. Events that were recorded before get it too, so that all events of a run
-- still have the same. Nothing else about them changes.
ALTER TABLE events DISABLE TRIGGER events_keep;
UPDATE events SET execution_id = encode(sha256(convert_to(execution_id, 'UTF8')), 'hex') WHERE execution_id <> '';
ALTER TABLE events ENABLE TRIGGER events_keep;
