-- +goose Up
-- compatible: yes

-- The first parts of the scopes that applications declare: no resource server may have one as its handle.
CREATE TABLE own_scopes (
    handle         TEXT COLLATE "C" NOT NULL,
    application_id TEXT COLLATE "C" NOT NULL REFERENCES applications (id) ON DELETE CASCADE,
    PRIMARY KEY (handle, application_id)
);
CREATE INDEX own_scopes_application ON own_scopes (application_id);
