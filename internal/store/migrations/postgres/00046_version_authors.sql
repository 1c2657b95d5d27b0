-- +goose Up

-- The actor that stored a version of a flow, and its reason. The type '' means a version from before
-- authors were recorded.
ALTER TABLE flow_versions ADD COLUMN author_type TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE flow_versions ADD COLUMN author_id TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE flow_versions ADD COLUMN author_client TEXT COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE flow_versions ADD COLUMN reason TEXT COLLATE "C" NOT NULL DEFAULT '';

-- The unfinished runs of each version are counted.
CREATE INDEX runs_open_flow ON runs (flow_id, flow_version) WHERE status = 'INCOMPLETE';
