-- +goose Up

-- The log contained the ids of runs, with which its readers could continue unfinished runs. From now on execution_id is the digest of the id: its SHA-256 in
-- hexadecimal. Events that were recorded before get it too, so that all events of a run
-- still have the same. Nothing else about them changes.
ALTER TABLE events DISABLE TRIGGER events_keep;
UPDATE events SET execution_id = encode(sha256(convert_to(execution_id, 'UTF8')), 'hex') WHERE execution_id <> '';
ALTER TABLE events ENABLE TRIGGER events_keep;
