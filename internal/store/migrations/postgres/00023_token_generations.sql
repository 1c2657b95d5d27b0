-- +goose Up

-- Tokens name the generation of their application, and count only while it is the
-- application's. An application that is there already has the generation '', which is
-- that of the tokens issued before this migration: they stay valid until they expire.
ALTER TABLE applications ADD COLUMN token_generation TEXT COLLATE "C" NOT NULL DEFAULT '';

-- Access tokens of clients that act on their own behalf last at most a day.
UPDATE oauth_profiles SET access_token_validity = 86400
    WHERE access_token_validity > 86400 AND grant_types LIKE '%client_credentials%';
