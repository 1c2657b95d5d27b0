-- +goose Up
-- Resources are ordered by id. No two have the same updated_at one after the
-- other: it is what entity tags are made of.

CREATE TABLE organization_units (
    id          TEXT NOT NULL PRIMARY KEY,
    handle      TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    description TEXT NOT NULL,
    parent_id   TEXT REFERENCES organization_units (id),
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX organization_units_parent ON organization_units (parent_id, id);

CREATE TABLE user_types (
    id                TEXT NOT NULL PRIMARY KEY,
    name              TEXT NOT NULL UNIQUE,
    description       TEXT NOT NULL,
    ou_id             TEXT NOT NULL REFERENCES organization_units (id),
    definition        TEXT NOT NULL, -- the JSON Schema
    unique_attributes TEXT,          -- those it marks x-unique
    created_at        INTEGER NOT NULL,
    updated_at        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX user_types_ou ON user_types (ou_id, id);

-- The values of the attributes that user types mark x-unique, except the
-- identifying ones, which are in user_identifiers.
CREATE TABLE user_unique_values (
    attribute TEXT NOT NULL,
    value     TEXT NOT NULL,
    user_id   TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (attribute, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX user_unique_values_user ON user_unique_values (user_id);

CREATE INDEX users_ou ON users (ou_id, id);
CREATE INDEX users_type ON users (type, id);

CREATE TABLE user_groups (
    id          TEXT NOT NULL PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    ou_id       TEXT NOT NULL REFERENCES organization_units (id),
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX user_groups_ou ON user_groups (ou_id, id);

-- One of user_id and member_id is there. Users leave their groups when they
-- are deleted; a group that is a member of another stays.
CREATE TABLE group_members (
    group_id  TEXT NOT NULL REFERENCES user_groups (id) ON DELETE CASCADE,
    user_id   TEXT REFERENCES users (id) ON DELETE CASCADE,
    member_id TEXT REFERENCES user_groups (id),
    CHECK ((user_id IS NULL) <> (member_id IS NULL)),
    UNIQUE (group_id, user_id),
    UNIQUE (group_id, member_id)
) STRICT;
CREATE INDEX group_members_user ON group_members (user_id);
CREATE INDEX group_members_member ON group_members (member_id);

CREATE TABLE resource_servers (
    id          TEXT NOT NULL PRIMARY KEY,
    handle      TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    description TEXT NOT NULL,
    identifier  TEXT UNIQUE,
    ou_id       TEXT NOT NULL REFERENCES organization_units (id),
    read_only   INTEGER NOT NULL,
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX resource_servers_ou ON resource_servers (ou_id, id);

-- The tree of a resource server, its root among them: one row each, in order.
CREATE TABLE permissions (
    permission  TEXT NOT NULL PRIMARY KEY, -- the path, joined by ":"
    server_id   TEXT NOT NULL REFERENCES resource_servers (id) ON DELETE CASCADE,
    position    INTEGER NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('server', 'resource', 'action')),
    name        TEXT NOT NULL,
    description TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX permissions_server ON permissions (server_id, position);

CREATE TABLE roles (
    id          TEXT NOT NULL PRIMARY KEY,
    name        TEXT NOT NULL UNIQUE,
    description TEXT NOT NULL,
    ou_id       TEXT NOT NULL REFERENCES organization_units (id),
    created_at  INTEGER NOT NULL,
    updated_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX roles_ou ON roles (ou_id, id);

-- A permission that a role grants cannot be taken from its resource server.
CREATE TABLE role_permissions (
    role_id    TEXT NOT NULL REFERENCES roles (id) ON DELETE CASCADE,
    permission TEXT NOT NULL REFERENCES permissions (permission),
    PRIMARY KEY (role_id, permission)
) STRICT, WITHOUT ROWID;
CREATE INDEX role_permissions_permission ON role_permissions (permission);

-- One of the three principals is there.
CREATE TABLE role_assignments (
    role_id        TEXT NOT NULL REFERENCES roles (id) ON DELETE CASCADE,
    user_id        TEXT REFERENCES users (id) ON DELETE CASCADE,
    group_id       TEXT REFERENCES user_groups (id),
    application_id TEXT REFERENCES applications (id) ON DELETE CASCADE,
    CHECK ((user_id IS NOT NULL) + (group_id IS NOT NULL) + (application_id IS NOT NULL) = 1),
    UNIQUE (role_id, user_id),
    UNIQUE (role_id, group_id),
    UNIQUE (role_id, application_id)
) STRICT;
CREATE INDEX role_assignments_user ON role_assignments (user_id);
CREATE INDEX role_assignments_group ON role_assignments (group_id);
CREATE INDEX role_assignments_application ON role_assignments (application_id);

ALTER TABLE applications ADD COLUMN type TEXT NOT NULL DEFAULT '';
ALTER TABLE applications ADD COLUMN contacts TEXT;
CREATE INDEX applications_ou ON applications (ou_id, id);
CREATE INDEX applications_type ON applications (type, id);
CREATE INDEX applications_auth_flow ON applications (auth_flow_id);
CREATE INDEX applications_registration_flow ON applications (registration_flow_id);

CREATE INDEX flows_type ON flows (flow_type, id);
CREATE INDEX flows_handle ON flows (handle, id);

-- Applications that are OAuth clients. The client id is in applications.
CREATE TABLE oauth_profiles (
    application_id            TEXT NOT NULL PRIMARY KEY REFERENCES applications (id) ON DELETE CASCADE,
    secret_hash               BLOB, -- SHA-256
    redirect_uris             TEXT,
    post_logout_redirect_uris TEXT,
    grant_types               TEXT,
    response_types            TEXT,
    auth_method               TEXT NOT NULL,
    pkce_required             INTEGER NOT NULL,
    public_client             INTEGER NOT NULL,
    scopes                    TEXT,
    access_token_validity     INTEGER NOT NULL, -- seconds, 0 for the default
    id_token_validity         INTEGER NOT NULL,
    id_token_alg              TEXT NOT NULL,
    refresh_token_validity    INTEGER NOT NULL,
    jwks                      TEXT,
    jwks_uri                  TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
    id             TEXT NOT NULL PRIMARY KEY,
    user_id        TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    application_id TEXT NOT NULL,
    amr            TEXT,
    acr            TEXT NOT NULL,
    client         TEXT NOT NULL,
    created_at     INTEGER NOT NULL,
    expires_at     INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_user ON sessions (user_id, created_at, id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Tokens that were revoked one by one, until they would have expired.
CREATE TABLE revoked_tokens (
    id         TEXT NOT NULL PRIMARY KEY, -- jti
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX revoked_tokens_expiry ON revoked_tokens (expires_at);

ALTER TABLE events ADD COLUMN actor_type TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN actor_id TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN actor_client TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN resource_type TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN resource_id TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN before_digest TEXT NOT NULL DEFAULT '';
ALTER TABLE events ADD COLUMN after_digest TEXT NOT NULL DEFAULT '';
-- What every sign-in records is in one index alone, that of its user: each further
-- one would cost a sign-in more than all else it writes. What is asked for by
-- another member is found by going back through the log, a second for some
-- millions of events.
CREATE INDEX events_user ON events (user_id, at, id) WHERE user_id <> '';
CREATE INDEX events_actor ON events (actor_id, at, id) WHERE actor_id <> '' AND actor_id <> user_id;
CREATE INDEX events_action ON events (action, at, id) WHERE action NOT IN ('passkey.used', 'password.used', 'user.signed_in');
CREATE INDEX events_resource_type ON events (resource_type, at, id) WHERE resource_type <> '';
CREATE INDEX events_resource ON events (resource_id, at, id) WHERE resource_id <> '';

-- The audit log is only ever added to.
-- +goose StatementBegin
CREATE TRIGGER events_keep BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'events are never changed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER events_stay BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'events are never removed'); END;
-- +goose StatementEnd

-- How many users there are, in all and of each type and unit, so that a list need
-- not count them. In shards, because concurrent writers of one row would wait for
-- each other; here there is one writer, and one shard.
CREATE TABLE row_counts (
    name   TEXT NOT NULL,
    member TEXT NOT NULL, -- '' for all
    value  TEXT NOT NULL,
    shard  INTEGER NOT NULL,
    n      INTEGER NOT NULL,
    PRIMARY KEY (name, member, value, shard)
) STRICT, WITHOUT ROWID;
INSERT INTO row_counts SELECT 'users', '', '', 0, COUNT(*) FROM users;
INSERT INTO row_counts SELECT 'users', 'type', type, 0, COUNT(*) FROM users GROUP BY type;
INSERT INTO row_counts SELECT 'users', 'ouId', ou_id, 0, COUNT(*) FROM users GROUP BY ou_id;
-- +goose StatementBegin
CREATE TRIGGER users_added AFTER INSERT ON users
BEGIN
    INSERT INTO row_counts VALUES ('users', '', '', 0, 1), ('users', 'type', NEW.type, 0, 1), ('users', 'ouId', NEW.ou_id, 0, 1)
        ON CONFLICT (name, member, value, shard) DO UPDATE SET n = n + 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER users_removed AFTER DELETE ON users
BEGIN
    INSERT INTO row_counts VALUES ('users', '', '', 0, -1), ('users', 'type', OLD.type, 0, -1), ('users', 'ouId', OLD.ou_id, 0, -1)
        ON CONFLICT (name, member, value, shard) DO UPDATE SET n = n - 1;
END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER users_moved AFTER UPDATE OF type, ou_id ON users WHEN NEW.type <> OLD.type OR NEW.ou_id <> OLD.ou_id
BEGIN
    INSERT INTO row_counts VALUES ('users', 'type', OLD.type, 0, -1), ('users', 'ouId', OLD.ou_id, 0, -1)
        ON CONFLICT (name, member, value, shard) DO UPDATE SET n = n - 1;
    INSERT INTO row_counts VALUES ('users', 'type', NEW.type, 0, 1), ('users', 'ouId', NEW.ou_id, 0, 1)
        ON CONFLICT (name, member, value, shard) DO UPDATE SET n = n + 1;
END;
-- +goose StatementEnd

-- Who may do everything follows from a role now. Those who might are the first
-- members of the group that has it; the role comes with the seeding below.
INSERT INTO organization_units (id, handle, name, description, created_at, updated_at)
    SELECT '01900000-0000-7000-8000-000000000010', 'default', 'Default', '', MIN(created_at), MIN(created_at)
    FROM users WHERE id IN (SELECT user_id FROM user_permissions WHERE permission = 'system') HAVING COUNT(*) > 0;
INSERT INTO user_groups (id, name, description, ou_id, created_at, updated_at)
    SELECT '01900000-0000-7000-8000-000000000040', 'Administrators', '', id, created_at, updated_at FROM organization_units;
INSERT INTO group_members (group_id, user_id)
    SELECT '01900000-0000-7000-8000-000000000040', user_id FROM user_permissions WHERE permission = 'system';
DROP TABLE user_permissions;

-- What the tables of the first version name must be there from now on. They cannot
-- be given foreign keys, so triggers do what those would. Rows that are there
-- already are left alone: what they name comes with the seeding below. Applications
-- without a flow have '', which stands for none.
-- +goose StatementBegin
CREATE TRIGGER users_refer BEFORE INSERT ON users
WHEN NOT EXISTS (SELECT 1 FROM user_types WHERE name = NEW.type)
    OR NOT EXISTS (SELECT 1 FROM organization_units WHERE id = NEW.ou_id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER users_refer_type BEFORE UPDATE OF type ON users
WHEN NEW.type <> OLD.type AND NOT EXISTS (SELECT 1 FROM user_types WHERE name = NEW.type)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER users_refer_ou BEFORE UPDATE OF ou_id ON users
WHEN NEW.ou_id <> OLD.ou_id AND NOT EXISTS (SELECT 1 FROM organization_units WHERE id = NEW.ou_id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER applications_refer BEFORE INSERT ON applications
WHEN NOT EXISTS (SELECT 1 FROM organization_units WHERE id = NEW.ou_id)
    OR NEW.auth_flow_id <> '' AND NOT EXISTS (SELECT 1 FROM flows WHERE id = NEW.auth_flow_id)
    OR NEW.registration_flow_id <> '' AND NOT EXISTS (SELECT 1 FROM flows WHERE id = NEW.registration_flow_id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER applications_refer_ou BEFORE UPDATE OF ou_id ON applications
WHEN NEW.ou_id <> OLD.ou_id AND NOT EXISTS (SELECT 1 FROM organization_units WHERE id = NEW.ou_id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER applications_refer_auth_flow BEFORE UPDATE OF auth_flow_id ON applications
WHEN NEW.auth_flow_id NOT IN ('', OLD.auth_flow_id) AND NOT EXISTS (SELECT 1 FROM flows WHERE id = NEW.auth_flow_id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER applications_refer_registration_flow BEFORE UPDATE OF registration_flow_id ON applications
WHEN NEW.registration_flow_id NOT IN ('', OLD.registration_flow_id) AND NOT EXISTS (SELECT 1 FROM flows WHERE id = NEW.registration_flow_id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER organization_units_referred BEFORE DELETE ON organization_units
WHEN EXISTS (SELECT 1 FROM users WHERE ou_id = OLD.id) OR EXISTS (SELECT 1 FROM applications WHERE ou_id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER user_types_referred BEFORE DELETE ON user_types
WHEN EXISTS (SELECT 1 FROM users WHERE type = OLD.name)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER user_types_renamed BEFORE UPDATE OF name ON user_types
WHEN NEW.name <> OLD.name AND EXISTS (SELECT 1 FROM users WHERE type = OLD.name)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER flows_referred BEFORE DELETE ON flows
WHEN EXISTS (SELECT 1 FROM applications WHERE auth_flow_id = OLD.id OR registration_flow_id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd

-- Seeding runs again in stores of the first version, and adds what is missing.
DELETE FROM seeding;
