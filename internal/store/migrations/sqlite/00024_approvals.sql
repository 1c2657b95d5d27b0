-- +goose Up

-- What the user approved for an untrusted client: permissions of this
-- server's own API, after a fresh sign-in for this very request. JSON, NULL for nothing.
-- Such a client keeps no permission that it was given before without an approval: its
-- refresh tokens stay valid, and get none until a user approves it.
ALTER TABLE auth_requests ADD COLUMN approved TEXT;
