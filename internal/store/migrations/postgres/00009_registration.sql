-- +goose Up

-- How an application came to be, '' for by an administrator, and whether one
-- vouches for a client that registered itself.
ALTER TABLE applications ADD COLUMN registration TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE applications ADD COLUMN verified BOOLEAN NOT NULL DEFAULT FALSE;
CREATE INDEX applications_registration ON applications (registration, id);

-- When untrusted clients expire, and until when their metadata documents are fresh.
CREATE TABLE client_leases (
    application_id TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES applications (id) ON DELETE CASCADE,
    expires_at     BIGINT NOT NULL,
    fetched_at     BIGINT NOT NULL, -- in the year 1 for a client without a document
    fresh_until    BIGINT NOT NULL
);
CREATE INDEX client_leases_expiry ON client_leases (expires_at);
