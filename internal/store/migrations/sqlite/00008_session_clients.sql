-- +goose Up

-- Where a client is notified of the end of a session.
ALTER TABLE oauth_profiles ADD COLUMN backchannel_logout_uri TEXT NOT NULL DEFAULT '';
ALTER TABLE oauth_profiles ADD COLUMN backchannel_logout_session INTEGER NOT NULL DEFAULT FALSE;

-- Which clients have got tokens in a session.
CREATE TABLE session_clients (
    session_id     TEXT NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    application_id TEXT NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    PRIMARY KEY (session_id, application_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX session_clients_application ON session_clients (application_id);

-- Who has refresh tokens got them in a session.
INSERT INTO session_clients SELECT DISTINCT session_id, application_id FROM refresh_families;
