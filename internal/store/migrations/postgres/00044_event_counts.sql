-- +goose Up

-- How many events of the audit log there are by hour (microseconds), action and reason, for
-- statistics. The sealer of the log counts each event once; see eventcounts.go.
CREATE TABLE event_counts (
    at     BIGINT NOT NULL,
    action TEXT NOT NULL,
    reason TEXT NOT NULL,
    n      BIGINT NOT NULL,
    PRIMARY KEY (at, action, reason)
);
INSERT INTO event_counts (at, action, reason, n)
SELECT e.at - e.at % 3600000000, e.action, CASE
        WHEN e.action = 'user.signed_in' AND detail ->> 'bySession' = 'true' THEN 'session'
        WHEN e.action = 'attempt.failed' THEN COALESCE(detail ->> 'error', '')
        WHEN e.action IN ('user.sign_in_refused', 'delivery.given_up') THEN COALESCE(detail ->> 'reason', '')
        ELSE '' END, COUNT(*)
FROM events e WHERE NOT EXISTS (SELECT 1 FROM unsealed_events u WHERE u.at = e.at AND u.id = e.id)
GROUP BY 1, 2, 3;
