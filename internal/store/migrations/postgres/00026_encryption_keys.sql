-- +goose Up

-- Keys that were derived from the key-encryption key when the store was made, and whose
-- products are in other hands (refresh tokens, cookies) or must stay the same (digests,
-- decoys). They are kept sealed, so that they stay when the key-encryption key changes.
-- The first start after this migration fills the table with the keys that were in use.
CREATE TABLE derived_keys (
    purpose    TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    sealed     BYTEA NOT NULL,
    created_at BIGINT NOT NULL
);

-- The key-encryption keys of the servers that have the store open: what one of them
-- cannot open must not be written while it runs.
CREATE TABLE instance_keys (
    instance   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    host       TEXT NOT NULL,
    keys       TEXT NOT NULL, -- ids, lines; the first seals
    started_at BIGINT NOT NULL
);
