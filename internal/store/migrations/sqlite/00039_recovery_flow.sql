-- +goose Up

-- The flow with which users of an application regain access to their account; '' for none.
ALTER TABLE applications ADD COLUMN recovery_flow_id TEXT NOT NULL DEFAULT '';
CREATE INDEX applications_recovery_flow ON applications (recovery_flow_id);
-- +goose StatementBegin
CREATE TRIGGER applications_refer_new_recovery_flow BEFORE INSERT ON applications
WHEN NEW.recovery_flow_id <> '' AND NOT EXISTS (SELECT 1 FROM flows WHERE id = NEW.recovery_flow_id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER applications_refer_recovery_flow BEFORE UPDATE OF recovery_flow_id ON applications
WHEN NEW.recovery_flow_id NOT IN ('', OLD.recovery_flow_id) AND NOT EXISTS (SELECT 1 FROM flows WHERE id = NEW.recovery_flow_id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER flows_recover BEFORE DELETE ON flows
WHEN EXISTS (SELECT 1 FROM applications WHERE recovery_flow_id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
