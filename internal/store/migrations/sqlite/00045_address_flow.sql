-- +goose Up

-- The flow with which users of an application change or verify their mail address; '' for none.
ALTER TABLE applications ADD COLUMN address_flow_id TEXT NOT NULL DEFAULT '';
CREATE INDEX applications_address_flow ON applications (address_flow_id);
-- +goose StatementBegin
CREATE TRIGGER applications_refer_new_address_flow BEFORE INSERT ON applications
WHEN NEW.address_flow_id <> '' AND NOT EXISTS (SELECT 1 FROM flows WHERE id = NEW.address_flow_id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER applications_refer_address_flow BEFORE UPDATE OF address_flow_id ON applications
WHEN NEW.address_flow_id NOT IN ('', OLD.address_flow_id) AND NOT EXISTS (SELECT 1 FROM flows WHERE id = NEW.address_flow_id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER flows_change_address BEFORE DELETE ON flows
WHEN EXISTS (SELECT 1 FROM applications WHERE address_flow_id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
