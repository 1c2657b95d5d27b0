-- +goose Up

-- What users let clients have, a row for each scope, and one with no scope for
-- signing in to the client at all. It goes with the user and the client.
CREATE TABLE consents (
    user_id        TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    application_id TEXT COLLATE "C" NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    scope          TEXT COLLATE "C" NOT NULL,
    granted_at     BIGINT NOT NULL,
    ask_again_at   BIGINT, -- NULL: never
    PRIMARY KEY (user_id, application_id, scope)
);
CREATE INDEX consents_application ON consents (application_id);

ALTER TABLE applications ADD COLUMN require_consent BOOLEAN NOT NULL DEFAULT FALSE;

-- The error for a client that gets no code.
ALTER TABLE auth_requests ADD COLUMN refused TEXT; -- JSON
