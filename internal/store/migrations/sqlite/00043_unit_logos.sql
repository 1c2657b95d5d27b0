-- +goose Up

-- The picture that hosted pages show for an organization unit: an https or data URL; '' for none.
ALTER TABLE organization_units ADD COLUMN logo_url TEXT NOT NULL DEFAULT '';
