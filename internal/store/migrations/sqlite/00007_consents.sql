-- +goose Up

-- What users let clients have, a row for each scope, and one with no scope for
-- signing in to the client at all. It goes with the user and the client.
CREATE TABLE consents (
    user_id        TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    application_id TEXT NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    scope          TEXT NOT NULL,
    granted_at     INTEGER NOT NULL,
    ask_again_at   INTEGER, -- NULL: never
    PRIMARY KEY (user_id, application_id, scope)
) STRICT, WITHOUT ROWID;
CREATE INDEX consents_application ON consents (application_id);

ALTER TABLE applications ADD COLUMN require_consent INTEGER NOT NULL DEFAULT 0;

-- The error for a client that gets no code.
ALTER TABLE auth_requests ADD COLUMN refused TEXT; -- JSON
