-- +goose Up

-- Events from kept_from on are never removed, earlier ones may be: the log says so
-- in an event of its own. kept_from only rises.
CREATE TABLE event_retention (
    one       INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
    kept_from INTEGER NOT NULL
) STRICT;
INSERT INTO event_retention VALUES (1, 0);
DROP TRIGGER events_stay;
-- +goose StatementBegin
CREATE TRIGGER events_stay BEFORE DELETE ON events
WHEN OLD.at >= COALESCE((SELECT kept_from FROM event_retention), 0)
BEGIN SELECT RAISE(ABORT, 'events are never removed before their time'); END;
-- +goose StatementEnd
