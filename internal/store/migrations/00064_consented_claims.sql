-- +goose Up
-- compatible: yes

-- The claims that the scope released when the user consented, a JSON list. NULL for a consent of an earlier release: the
-- standard claims of the scope.
ALTER TABLE consents ADD COLUMN claims TEXT;
