-- +goose Up
-- compatible: yes

-- The SHA-256 of the client secret before the last rotation, which works until a time. An earlier version does not
-- accept it.
ALTER TABLE applications ADD COLUMN former_secret_hash BYTEA;
ALTER TABLE applications ADD COLUMN former_secret_expires_at BIGINT;
