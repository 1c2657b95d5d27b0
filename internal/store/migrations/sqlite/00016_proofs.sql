-- +goose Up

-- Distinguishes a password from earlier ones of the user; a new hash of the same
-- password keeps it. All passwords from before have the same one, which is enough: a
-- user has one password, and the next gets an id of its own.
ALTER TABLE passwords ADD COLUMN id TEXT NOT NULL DEFAULT '';

-- The credentials that a session rests on, as JSON. NULL: it began before they were
-- recorded, and ends with any credential of its methods. Runs that are under way do
-- not name theirs either: users who have authenticated in one must start again.
ALTER TABLE sessions ADD COLUMN proofs TEXT;

-- The runs of a user end with the user's password.
CREATE INDEX runs_user ON runs (user_id) WHERE user_id <> '';
