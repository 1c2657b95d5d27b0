-- +goose Up
-- compatible: yes

-- The skeleton of the name of an application that an administrator created, '' for other applications.
-- NULL in rows of earlier programs: the first registration without a token computes it.
ALTER TABLE applications ADD COLUMN name_skeleton TEXT COLLATE "C";
CREATE INDEX applications_name_skeleton ON applications (name_skeleton);

-- The last state of applications that were deleted, or that have another client id now. The identifier
-- is that of the application ('id/…') or of its client ('client/…').
CREATE TABLE former_applications (
    identifier TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    state      JSON NOT NULL,
    deleted_at BIGINT NOT NULL
); -- rowid
