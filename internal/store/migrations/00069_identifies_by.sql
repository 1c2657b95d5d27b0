-- +goose Up
-- compatible: no, a server of an earlier version removes how an application identifies users when it stores the application

-- The claim that identifies users in an application: sub or email; '' for either.
ALTER TABLE applications ADD COLUMN identifies_by TEXT NOT NULL DEFAULT '';
