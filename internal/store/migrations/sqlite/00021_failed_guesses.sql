-- +goose Up

-- How many guesses of passwords and codes have failed in a row, for each name or
-- device that they were made with. The digest is keyed, so that the table does not
-- say which names were typed. A store of an earlier version starts with no failures:
-- they were counted in memory.
CREATE TABLE failed_guesses (
    digest    BLOB NOT NULL PRIMARY KEY, -- HMAC-SHA-256
    user_id   TEXT REFERENCES users (id) ON DELETE CASCADE, -- NULL: no user has the name
    failures  INTEGER NOT NULL,
    failed_at INTEGER NOT NULL -- the last one, microseconds since 1970
) STRICT, WITHOUT ROWID;
CREATE INDEX failed_guesses_by_user ON failed_guesses (user_id, failed_at);
