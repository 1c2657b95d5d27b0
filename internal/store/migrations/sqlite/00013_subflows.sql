-- +goose Up

-- The sub-flows that a version of a flow is made of, complete: what it means depends
-- on nothing else. NULL: it uses none.
ALTER TABLE flow_versions ADD COLUMN parts TEXT;

-- Which they are. A sub-flow may be deleted while none but older versions use it.
CREATE TABLE flow_uses (
    flow_id      TEXT NOT NULL,
    version      INTEGER NOT NULL,
    used_id      TEXT NOT NULL,
    used_version INTEGER NOT NULL,
    PRIMARY KEY (flow_id, version, used_id),
    FOREIGN KEY (flow_id, version) REFERENCES flow_versions (flow_id, version) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

CREATE INDEX flow_uses_used ON flow_uses (used_id);
