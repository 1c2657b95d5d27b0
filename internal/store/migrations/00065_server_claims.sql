-- +goose Up
-- compatible: no, a server of an earlier version removes the claims of a resource server when it stores the resource server

ALTER TABLE resource_servers ADD COLUMN claims TEXT; -- JSON, NULL for none
