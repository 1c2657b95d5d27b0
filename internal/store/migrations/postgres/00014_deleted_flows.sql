-- +goose Up

-- The last versions of flows that were deleted. Another flow may have the id later, and
-- its versions follow on these: a number of an id never means two definitions.
CREATE TABLE deleted_flows (
    id           TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    last_version INTEGER NOT NULL
);
