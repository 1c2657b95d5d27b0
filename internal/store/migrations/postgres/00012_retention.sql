-- +goose Up

-- Events from kept_from on are never removed, earlier ones may be: the log says so
-- in an event of its own. kept_from only rises.
CREATE TABLE event_retention (
    one       BIGINT NOT NULL PRIMARY KEY CHECK (one = 1),
    kept_from BIGINT NOT NULL
);
INSERT INTO event_retention VALUES (1, 0);
DROP TRIGGER events_stay ON events;
CREATE TRIGGER events_keep BEFORE UPDATE OR TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION keep_events();
-- +goose StatementBegin
CREATE FUNCTION keep_young_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT 1 FROM gone WHERE at >= COALESCE((SELECT kept_from FROM event_retention), 0)) THEN
        RAISE EXCEPTION 'events are never removed before their time';
    END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER events_stay AFTER DELETE ON events REFERENCING OLD TABLE AS gone
    FOR EACH STATEMENT EXECUTE FUNCTION keep_young_events();
