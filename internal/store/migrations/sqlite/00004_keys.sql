-- +goose Up

-- When a key began to sign, when it ceased to, and until when what it has signed
-- may be valid: so long it must be kept. It is unknown how long the tokens last
-- that the keys from before have signed, but none lasts longer than a year.
ALTER TABLE signing_keys ADD COLUMN signs_since INTEGER;
ALTER TABLE signing_keys ADD COLUMN retired_at INTEGER;
ALTER TABLE signing_keys ADD COLUMN needed_until INTEGER;
UPDATE signing_keys SET signs_since = created_at, needed_until = (unixepoch() + 366 * 86400) * 1000000;

-- One key waits to follow the one that signs. Of two instances that publish one
-- at the same time, one does.
CREATE UNIQUE INDEX signing_keys_one_published ON signing_keys (algorithm) WHERE status = 'published';
