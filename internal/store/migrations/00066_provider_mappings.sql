-- +goose Up
-- compatible: no, a server of an earlier version lets others than their owners change attributes

ALTER TABLE identity_providers ADD COLUMN mapping TEXT; -- JSON; NULL: none
CREATE INDEX identity_providers_mapping ON identity_providers (id) WHERE mapping IS NOT NULL;

-- The owners of attributes. An attribute without a row has none.
CREATE TABLE attribute_owners (
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    attribute   TEXT COLLATE "C" NOT NULL,
    owner       TEXT NOT NULL, -- provider, user, administrator or flow
    provider_id TEXT COLLATE "C" REFERENCES identity_providers (id) ON DELETE CASCADE,
    since       BIGINT NOT NULL,
    CHECK ((owner = 'provider') = (provider_id IS NOT NULL)),
    PRIMARY KEY (user_id, attribute)
);
CREATE INDEX attribute_owners_provider ON attribute_owners (provider_id);

-- The memberships that identity providers gave. Other rows of group_members are of administrators.
CREATE TABLE provider_members (
    group_id    TEXT COLLATE "C" NOT NULL,
    user_id     TEXT COLLATE "C" NOT NULL,
    provider_id TEXT COLLATE "C" NOT NULL REFERENCES identity_providers (id),
    PRIMARY KEY (group_id, user_id, provider_id),
    FOREIGN KEY (group_id, user_id) REFERENCES group_members (group_id, user_id) ON DELETE CASCADE
);
CREATE INDEX provider_members_user ON provider_members (user_id, provider_id);
CREATE INDEX provider_members_provider ON provider_members (provider_id);
