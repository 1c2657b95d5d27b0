-- +goose Up
-- compatible: yes

-- What a client registered for its sign-ins (OpenID Connect Dynamic Client Registration §2): max_age in seconds,
-- NULL for none, and acr_values of requests without them, and where a sign-in starts at the client.
ALTER TABLE oauth_profiles ADD COLUMN default_max_age BIGINT;
ALTER TABLE oauth_profiles ADD COLUMN default_acr_values TEXT;
ALTER TABLE oauth_profiles ADD COLUMN initiate_login_uri TEXT NOT NULL DEFAULT '';

-- The algorithm of client assertions, '' for any.
ALTER TABLE oauth_profiles ADD COLUMN auth_signing_alg TEXT NOT NULL DEFAULT '';
