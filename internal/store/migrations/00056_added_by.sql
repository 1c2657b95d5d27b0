-- +goose Up
-- compatible: yes

-- The sign-in that linked an identity, in the form of credentials.added_by. That of earlier releases is
-- not known.
ALTER TABLE identities ADD COLUMN added_by TEXT NOT NULL DEFAULT '';

-- The sign-in with which a user has set the mail address. It holds as long as the user has the address.
CREATE TABLE address_origins (
    user_id  TEXT COLLATE "C" NOT NULL PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    address  TEXT COLLATE "C" NOT NULL, -- in the form of user_emails.address
    set_at   BIGINT NOT NULL,
    added_by TEXT NOT NULL
);
