-- +goose Up

-- The sign-in that added a credential to an existing account: its class (acr) and methods
-- (amr), separated by spaces; '' for a credential without a limit, as every credential of an
-- earlier version.
ALTER TABLE credentials ADD COLUMN added_by TEXT NOT NULL DEFAULT '';
ALTER TABLE passwords ADD COLUMN added_by TEXT NOT NULL DEFAULT '';
ALTER TABLE totp ADD COLUMN added_by TEXT NOT NULL DEFAULT '';
ALTER TABLE recovery_codes ADD COLUMN added_by TEXT NOT NULL DEFAULT '';
