-- +goose Up
-- compatible: yes

-- The ids of deleted users. A subject identifier is never reassigned (OpenID Connect Core §2), so no
-- new user gets one of these.
CREATE TABLE deleted_users (
    id TEXT COLLATE "C" NOT NULL PRIMARY KEY
);

-- The users of earlier releases are in the audit log, unless their events were removed.
INSERT INTO deleted_users (id)
    SELECT DISTINCT e.user_id FROM events e
    WHERE e.action = 'user.deleted' AND e.user_id <> '' AND NOT EXISTS (SELECT 1 FROM users u WHERE u.id = e.user_id);

-- The import that created a resource: the product and the name of its export, such as keycloak/acme; ''
-- for a resource that no import created. Another import adds no members to it.
ALTER TABLE user_groups ADD COLUMN imported_from TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE roles ADD COLUMN imported_from TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE applications ADD COLUMN imported_from TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE identity_providers ADD COLUMN imported_from TEXT COLLATE "C" NOT NULL DEFAULT '';
