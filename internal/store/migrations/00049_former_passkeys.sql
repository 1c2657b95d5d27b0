-- +goose Up
-- compatible: yes

-- The users who have removed a passkey that counted in full: an administrator among them is not one
-- without a passkey.
CREATE TABLE former_passkeys (
    user_id    TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    removed_at BIGINT NOT NULL
);

-- Those of earlier releases are in the audit log, unless their events were removed.
INSERT INTO former_passkeys (user_id, removed_at)
    SELECT e.user_id, MAX(e.at) FROM events e
    WHERE e.action = 'passkey.deleted' AND EXISTS (SELECT 1 FROM users u WHERE u.id = e.user_id)
    GROUP BY e.user_id;
