-- +goose Up

-- The run that has accepted an invitation; '' for none, and for other links.
ALTER TABLE links ADD COLUMN run_id TEXT NOT NULL DEFAULT '';

-- The flow in which invited users of an application add their first credential; '' for none.
ALTER TABLE applications ADD COLUMN invitation_flow_id TEXT NOT NULL DEFAULT '';
CREATE INDEX applications_invitation_flow ON applications (invitation_flow_id);
-- +goose StatementBegin
CREATE TRIGGER applications_refer_new_invitation_flow BEFORE INSERT ON applications
WHEN NEW.invitation_flow_id <> '' AND NOT EXISTS (SELECT 1 FROM flows WHERE id = NEW.invitation_flow_id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER applications_refer_invitation_flow BEFORE UPDATE OF invitation_flow_id ON applications
WHEN NEW.invitation_flow_id NOT IN ('', OLD.invitation_flow_id) AND NOT EXISTS (SELECT 1 FROM flows WHERE id = NEW.invitation_flow_id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
-- +goose StatementBegin
CREATE TRIGGER flows_invite BEFORE DELETE ON flows
WHEN EXISTS (SELECT 1 FROM applications WHERE invitation_flow_id = OLD.id)
BEGIN SELECT RAISE(ABORT, 'FOREIGN KEY constraint failed'); END;
-- +goose StatementEnd
