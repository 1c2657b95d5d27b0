-- +goose Up
-- compatible: no, a server of an earlier version removes the claims of an application when it stores the application

-- NULL: the standard claims, and no limit. The attributes are lists, as in assertion_attributes.
ALTER TABLE oauth_profiles ADD COLUMN claims TEXT; -- JSON
ALTER TABLE oauth_profiles ADD COLUMN scope_claims TEXT; -- JSON
ALTER TABLE oauth_profiles ADD COLUMN access_token_attributes TEXT;
ALTER TABLE oauth_profiles ADD COLUMN id_token_attributes TEXT;
ALTER TABLE oauth_profiles ADD COLUMN userinfo_attributes TEXT;
