-- +goose Up
-- compatible: yes

-- How many seconds after the sign-in, and after its last use, an application accepts a session; 0 for as long as the
-- session lasts. An earlier version does not enforce them.
ALTER TABLE applications ADD COLUMN session_lifetime BIGINT NOT NULL DEFAULT 0;
ALTER TABLE applications ADD COLUMN session_idle_timeout BIGINT NOT NULL DEFAULT 0;

-- When an application with an idle timeout last used a session.
CREATE TABLE session_uses (
    session_id     TEXT COLLATE "C" NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    application_id TEXT COLLATE "C" NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    used_at        BIGINT NOT NULL,
    PRIMARY KEY (session_id, application_id)
);
CREATE INDEX session_uses_application ON session_uses (application_id);
