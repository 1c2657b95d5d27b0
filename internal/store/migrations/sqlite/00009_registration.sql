-- +goose Up

-- How an application came to be, '' for by an administrator, and whether one
-- vouches for a client that registered itself.
ALTER TABLE applications ADD COLUMN registration TEXT NOT NULL DEFAULT '';
ALTER TABLE applications ADD COLUMN verified INTEGER NOT NULL DEFAULT 0;
CREATE INDEX applications_registration ON applications (registration, id);

-- When untrusted clients expire, and until when their metadata documents are fresh.
CREATE TABLE client_leases (
    application_id TEXT NOT NULL PRIMARY KEY REFERENCES applications (id) ON DELETE CASCADE,
    expires_at     INTEGER NOT NULL,
    fetched_at     INTEGER NOT NULL, -- in the year 1 for a client without a document
    fresh_until    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX client_leases_expiry ON client_leases (expires_at);
