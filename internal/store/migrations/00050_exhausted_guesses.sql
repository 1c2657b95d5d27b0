-- +goose Up
-- compatible: no, servers of the previous version accept further guesses from each browser that a password made known

ALTER TABLE failed_guesses ADD COLUMN exhausted_at BIGINT; -- when the limit was reached; NULL: not yet

UPDATE failed_guesses SET exhausted_at = failed_at WHERE secret = 'password' AND failures >= 22 OR secret = 'mailed code' AND failures >= 10;

-- Codes of apps and recovery codes were counted together.
DELETE FROM failed_guesses WHERE secret = 'second factor';
