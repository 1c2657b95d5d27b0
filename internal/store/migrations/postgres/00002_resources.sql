-- +goose Up
-- Resources are ordered by id. No two have the same updated_at one after the
-- other: it is what entity tags are made of.

CREATE TABLE organization_units (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    handle      TEXT COLLATE "C" NOT NULL UNIQUE,
    name        TEXT COLLATE "C" NOT NULL,
    description TEXT NOT NULL,
    parent_id   TEXT COLLATE "C" REFERENCES organization_units (id),
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX organization_units_parent ON organization_units (parent_id, id);

CREATE TABLE user_types (
    id                TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name              TEXT COLLATE "C" NOT NULL UNIQUE,
    description       TEXT NOT NULL,
    ou_id             TEXT COLLATE "C" NOT NULL REFERENCES organization_units (id),
    definition        TEXT NOT NULL, -- the JSON Schema
    unique_attributes TEXT,          -- those it marks x-unique
    created_at        BIGINT NOT NULL,
    updated_at        BIGINT NOT NULL
);
CREATE INDEX user_types_ou ON user_types (ou_id, id);

-- The values of the attributes that user types mark x-unique, except the
-- identifying ones, which are in user_identifiers.
CREATE TABLE user_unique_values (
    attribute TEXT COLLATE "C" NOT NULL,
    value     TEXT COLLATE "C" NOT NULL,
    user_id   TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    PRIMARY KEY (attribute, value)
);
CREATE INDEX user_unique_values_user ON user_unique_values (user_id);

CREATE INDEX users_ou ON users (ou_id, id);
CREATE INDEX users_type ON users (type, id);

CREATE TABLE user_groups (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name        TEXT COLLATE "C" NOT NULL UNIQUE,
    description TEXT NOT NULL,
    ou_id       TEXT COLLATE "C" NOT NULL REFERENCES organization_units (id),
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX user_groups_ou ON user_groups (ou_id, id);

-- One of user_id and member_id is there. Users leave their groups when they
-- are deleted; a group that is a member of another stays.
CREATE TABLE group_members (
    group_id  TEXT COLLATE "C" NOT NULL REFERENCES user_groups (id) ON DELETE CASCADE,
    user_id   TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    member_id TEXT COLLATE "C" REFERENCES user_groups (id),
    CHECK ((user_id IS NULL) <> (member_id IS NULL)),
    UNIQUE (group_id, user_id),
    UNIQUE (group_id, member_id)
);
CREATE INDEX group_members_user ON group_members (user_id);
CREATE INDEX group_members_member ON group_members (member_id);

CREATE TABLE resource_servers (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    handle      TEXT COLLATE "C" NOT NULL UNIQUE,
    name        TEXT COLLATE "C" NOT NULL,
    description TEXT NOT NULL,
    identifier  TEXT COLLATE "C" UNIQUE,
    ou_id       TEXT COLLATE "C" NOT NULL REFERENCES organization_units (id),
    read_only   BOOLEAN NOT NULL,
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX resource_servers_ou ON resource_servers (ou_id, id);

-- The tree of a resource server, its root among them: one row each, in order.
CREATE TABLE permissions (
    permission  TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- the path, joined by ":"
    server_id   TEXT COLLATE "C" NOT NULL REFERENCES resource_servers (id) ON DELETE CASCADE,
    position    BIGINT NOT NULL,
    kind        TEXT NOT NULL CHECK (kind IN ('server', 'resource', 'action')),
    name        TEXT COLLATE "C" NOT NULL,
    description TEXT NOT NULL
);
CREATE INDEX permissions_server ON permissions (server_id, position);

CREATE TABLE roles (
    id          TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    name        TEXT COLLATE "C" NOT NULL UNIQUE,
    description TEXT NOT NULL,
    ou_id       TEXT COLLATE "C" NOT NULL REFERENCES organization_units (id),
    created_at  BIGINT NOT NULL,
    updated_at  BIGINT NOT NULL
);
CREATE INDEX roles_ou ON roles (ou_id, id);

-- A permission that a role grants cannot be taken from its resource server.
CREATE TABLE role_permissions (
    role_id    TEXT COLLATE "C" NOT NULL REFERENCES roles (id) ON DELETE CASCADE,
    permission TEXT COLLATE "C" NOT NULL REFERENCES permissions (permission),
    PRIMARY KEY (role_id, permission)
);
CREATE INDEX role_permissions_permission ON role_permissions (permission);

-- One of the three principals is there.
CREATE TABLE role_assignments (
    role_id        TEXT COLLATE "C" NOT NULL REFERENCES roles (id) ON DELETE CASCADE,
    user_id        TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    group_id       TEXT COLLATE "C" REFERENCES user_groups (id),
    application_id TEXT COLLATE "C" REFERENCES applications (id) ON DELETE CASCADE,
    CHECK (num_nonnulls(user_id, group_id, application_id) = 1),
    UNIQUE (role_id, user_id),
    UNIQUE (role_id, group_id),
    UNIQUE (role_id, application_id)
);
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
    application_id            TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES applications (id) ON DELETE CASCADE,
    secret_hash               BYTEA, -- SHA-256
    redirect_uris             TEXT,
    post_logout_redirect_uris TEXT,
    grant_types               TEXT,
    response_types            TEXT,
    auth_method               TEXT NOT NULL,
    pkce_required             BOOLEAN NOT NULL,
    public_client             BOOLEAN NOT NULL,
    scopes                    TEXT,
    access_token_validity     BIGINT NOT NULL, -- seconds, 0 for the default
    id_token_validity         BIGINT NOT NULL,
    id_token_alg              TEXT NOT NULL,
    refresh_token_validity    BIGINT NOT NULL,
    jwks                      TEXT,
    jwks_uri                  TEXT NOT NULL
);

CREATE TABLE sessions (
    id             TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    user_id        TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    application_id TEXT COLLATE "C" NOT NULL,
    amr            TEXT,
    acr            TEXT NOT NULL,
    client         TEXT NOT NULL,
    created_at     BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL
);
CREATE INDEX sessions_user ON sessions (user_id, created_at, id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- Tokens that were revoked one by one, until they would have expired.
CREATE TABLE revoked_tokens (
    id         TEXT COLLATE "C" NOT NULL PRIMARY KEY, -- jti
    expires_at BIGINT NOT NULL
);
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
CREATE FUNCTION keep_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'events are never changed or removed'; END $$;
-- +goose StatementEnd
CREATE TRIGGER events_stay BEFORE UPDATE OR DELETE OR TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION keep_events();

-- How many users there are, in all and of each type and unit, so that a list need
-- not count them. In shards, because concurrent writers of one row would wait for
-- each other; a connection keeps to one, in which a count may be below zero.
CREATE TABLE row_counts (
    name   TEXT COLLATE "C" NOT NULL,
    member TEXT COLLATE "C" NOT NULL, -- '' for all
    value  TEXT COLLATE "C" NOT NULL,
    shard  BIGINT NOT NULL,
    n      BIGINT NOT NULL,
    PRIMARY KEY (name, member, value, shard)
);
INSERT INTO row_counts SELECT 'users', '', '', 0, COUNT(*) FROM users;
INSERT INTO row_counts SELECT 'users', 'type', type, 0, COUNT(*) FROM users GROUP BY type;
INSERT INTO row_counts SELECT 'users', 'ouId', ou_id, 0, COUNT(*) FROM users GROUP BY ou_id;
-- +goose StatementBegin
CREATE FUNCTION add_to_users(type TEXT, ou_id TEXT, change BIGINT) RETURNS void LANGUAGE sql AS $$
    INSERT INTO row_counts SELECT 'users', member, value, pg_backend_pid() % 16, change
        FROM (VALUES ('', ''), ('type', type), ('ouId', ou_id)) AS counted (member, value)
        ON CONFLICT (name, member, value, shard) DO UPDATE SET n = row_counts.n + excluded.n
$$;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE FUNCTION count_users() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' THEN PERFORM add_to_users(OLD.type, OLD.ou_id, -1); END IF;
    IF TG_OP <> 'DELETE' THEN PERFORM add_to_users(NEW.type, NEW.ou_id, 1); END IF;
    RETURN NULL;
END $$;
-- +goose StatementEnd
CREATE TRIGGER users_counted AFTER INSERT OR DELETE OR UPDATE OF type, ou_id ON users
    FOR EACH ROW EXECUTE FUNCTION count_users();

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

-- What the tables of the first version name must be there from now on. Rows that
-- are there already are left alone: what they name comes with the seeding below.
-- Applications without a flow have '', which stands for none.
ALTER TABLE users ADD FOREIGN KEY (type) REFERENCES user_types (name) NOT VALID;
ALTER TABLE users ADD FOREIGN KEY (ou_id) REFERENCES organization_units (id) NOT VALID;
ALTER TABLE applications ADD FOREIGN KEY (ou_id) REFERENCES organization_units (id) NOT VALID;
ALTER TABLE applications ADD COLUMN auth_flow TEXT COLLATE "C" GENERATED ALWAYS AS (NULLIF(auth_flow_id, '')) STORED;
ALTER TABLE applications ADD FOREIGN KEY (auth_flow) REFERENCES flows (id) NOT VALID;
ALTER TABLE applications ADD COLUMN registration_flow TEXT COLLATE "C" GENERATED ALWAYS AS (NULLIF(registration_flow_id, '')) STORED;
ALTER TABLE applications ADD FOREIGN KEY (registration_flow) REFERENCES flows (id) NOT VALID;

-- Seeding runs again in stores of the first version, and adds what is missing.
DELETE FROM seeding;
