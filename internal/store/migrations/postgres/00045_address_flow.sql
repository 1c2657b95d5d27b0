-- +goose Up

-- The flow with which users of an application change or verify their mail address; '' for none.
ALTER TABLE applications ADD COLUMN address_flow_id TEXT COLLATE "C" NOT NULL DEFAULT '';
CREATE INDEX applications_address_flow ON applications (address_flow_id);
ALTER TABLE applications ADD COLUMN address_flow TEXT COLLATE "C" GENERATED ALWAYS AS (NULLIF(address_flow_id, '')) STORED;
ALTER TABLE applications ADD FOREIGN KEY (address_flow) REFERENCES flows (id);
