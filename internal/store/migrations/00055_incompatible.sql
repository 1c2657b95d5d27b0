-- +goose Up
-- compatible: no, a server of an earlier version keeps the ways around the rules for credentials, sessions and administrators that this version closes
-- It changes no table: the reason lies in the programs.
SELECT 1;
