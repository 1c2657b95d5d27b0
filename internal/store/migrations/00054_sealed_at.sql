-- +goose Up
-- compatible: no, servers of earlier versions extend a forged audit log and remove old events without a code of the key

-- The time at which a seal was made; 0 for a seal of an earlier version. See eventchain.go.
ALTER TABLE event_seals ADD COLUMN sealed_at BIGINT NOT NULL DEFAULT 0;
