-- +goose Up

-- The run that has accepted an invitation; '' for none, and for other links.
ALTER TABLE links ADD COLUMN run_id TEXT COLLATE "C" NOT NULL DEFAULT '';

-- The flow in which invited users of an application add their first credential; '' for none.
ALTER TABLE applications ADD COLUMN invitation_flow_id TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX applications_invitation_flow ON applications (invitation_flow_id);
ALTER TABLE applications ADD COLUMN invitation_flow TEXT COLLATE "C" GENERATED ALWAYS AS (NULLIF(invitation_flow_id, '')) STORED;
ALTER TABLE applications ADD FOREIGN KEY (invitation_flow) REFERENCES flows (id);
