-- +goose Up

-- Whether a user may sign in: status is 'active' or 'disabled', and until locked_until
-- (microseconds since 1970, NULL for no lock) the user is locked. Every user of an
-- earlier version is active.
ALTER TABLE users ADD COLUMN status TEXT NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'disabled'));
ALTER TABLE users ADD COLUMN locked_until INTEGER;
