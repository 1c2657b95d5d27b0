-- +goose Up

-- Among which users the identifiers of a type are unique: '' for the global scope, 'userType'
-- for the users of the type. The values of a type with its own scope start with the name of the
-- type and the character U+001F in user_identifiers, user_emails and user_unique_values.
ALTER TABLE user_types ADD COLUMN identifier_scope TEXT NOT NULL DEFAULT '' CHECK (identifier_scope IN ('', 'userType'));
CREATE INDEX user_types_scope ON user_types (identifier_scope, name);
