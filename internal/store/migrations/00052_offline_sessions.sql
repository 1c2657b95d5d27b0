-- +goose Up
-- compatible: no, refresh tokens with offline_access move to sessions of their own

-- only cockroachdb
-- +goose NO TRANSACTION
-- all

-- A session with the tokens of one client that have the scope offline_access: the id of the session in
-- which the client received them, and after whose end they are valid (OpenID Connect Back-Channel Logout
-- §2.7). It has the id of the refresh tokens' family. '' for other sessions.
ALTER TABLE sessions ADD COLUMN offline_of TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX sessions_browser ON sessions (browser, created_at) WHERE browser <> '';

-- Lists of words are lines.
INSERT INTO sessions (id, user_id, application_id, amr, acr, client, created_at, expires_at, proofs, browser, seen_at, offline_of)
    SELECT f.id, s.user_id, f.application_id, s.amr, s.acr, s.client, s.created_at, f.expires_at, s.proofs, '', s.seen_at, s.id
    FROM refresh_families f JOIN sessions s ON s.id = f.session_id
    WHERE REPLACE('
' || f.scopes, '
offline_access
', '') <> '
' || f.scopes;
INSERT INTO session_clients (session_id, application_id)
    SELECT s.id, s.application_id FROM sessions s WHERE s.offline_of <> '';
UPDATE refresh_families SET session_id = id WHERE id IN (SELECT id FROM sessions WHERE offline_of <> '');
