-- +goose Up

-- Lists of users are filtered by the normalized username or address, or by the start of it, in all
-- identifier scopes: these columns have it without the prefix of the scope. username is NULL in the
-- rows of addresses that are not usernames. If a user has one row, which is the address, it is also
-- the username of a user who has one.
ALTER TABLE user_identifiers ADD COLUMN username TEXT;
UPDATE user_identifiers SET username = substr(value, instr(value, char(31)) + 1)
WHERE NOT EXISTS (SELECT 1 FROM user_emails e WHERE e.user_id = user_identifiers.user_id AND e.value = user_identifiers.value)
    OR EXISTS (SELECT 1 FROM users u WHERE u.id = user_identifiers.user_id AND trim(u.attributes ->> 'username') <> '')
        AND NOT EXISTS (SELECT 1 FROM user_identifiers o WHERE o.user_id = user_identifiers.user_id AND o.value <> user_identifiers.value);
CREATE INDEX user_identifiers_username ON user_identifiers (username, user_id) WHERE username IS NOT NULL;

ALTER TABLE user_emails ADD COLUMN address TEXT NOT NULL DEFAULT '';
UPDATE user_emails SET address = substr(value, instr(value, char(31)) + 1);
CREATE INDEX user_emails_address ON user_emails (address, user_id);
