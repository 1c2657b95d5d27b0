-- +goose Up

-- The flow with which users of an application regain access to their account; '' for none.
ALTER TABLE applications ADD COLUMN recovery_flow_id TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX applications_recovery_flow ON applications (recovery_flow_id);
ALTER TABLE applications ADD COLUMN recovery_flow TEXT COLLATE "C" GENERATED ALWAYS AS (NULLIF(recovery_flow_id, '')) STORED;
ALTER TABLE applications ADD FOREIGN KEY (recovery_flow) REFERENCES flows (id);
