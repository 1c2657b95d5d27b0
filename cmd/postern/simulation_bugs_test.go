package main

import "github.com/postern-id/postern/internal/simulation"

// plantedBugs returns the defects that the simulation must find, by their names. Each changes
// statements of the store, as a mistake in the product would.
func plantedBugs() map[string]simulation.Bug {
	rules := func(list ...simulation.Rule) simulation.Bug { return simulation.Bug{Rules: list} }
	without := func(statement string) simulation.Bug { return rules(simulation.Rule{In: statement}) }
	change := func(in, old, now string) simulation.Bug { return rules(simulation.Rule{In: in, Old: old, New: now}) }
	early := func(table, micros string) simulation.Bug {
		in := "DELETE FROM " + table + " WHERE expires_at"
		return rules(simulation.Rule{In: in, Old: "<= ? AND", New: "<= ? + " + micros + " AND"},
			simulation.Rule{In: in, Old: "<= ? ORDER", New: "<= ? + " + micros + " ORDER"})
	}
	return map[string]simulation.Bug{
		"a code is redeemed twice": rules(
			simulation.Rule{In: "UPDATE auth_requests SET redeemed_at", Old: "AND redeemed_at IS NULL ", New: ""},
			simulation.Rule{In: "INSERT INTO refresh_families", Old: "INSERT INTO", New: "INSERT OR REPLACE INTO"}),
		"a replayed code revokes nothing":             change("SELECT id FROM auth_requests WHERE code_hash", "redeemed_at IS NOT NULL", "redeemed_at < 0"),
		"an expired code is redeemed":                 change("UPDATE auth_requests SET redeemed_at", "code_expires_at >", "code_expires_at + 3600000000 >"),
		"a refresh token is used twice":               change("UPDATE refresh_families SET generation", "AND generation = ?", "AND ? >= 0"),
		"a rotation is forgotten":                     change("UPDATE refresh_families SET generation", "generation = generation + 1", "generation = generation"),
		"a reused refresh token leaves the family":    without("DELETE FROM refresh_families WHERE id = ?"),
		"the window for lost replies is an hour":      change("UPDATE refresh_families SET generation", "rotated_at = ?", "rotated_at = ? + 3600000000"),
		"a revoked access token is accepted":          without("INSERT INTO revoked_tokens"),
		"revocations are forgotten early":             early("revoked_tokens", "89900000000"),
		"a sign-out ends nothing":                     without("DELETE FROM sessions WHERE id = ?"),
		"a sign-out ends the cookie only":             change("DELETE FROM sessions WHERE id = ?", "DELETE FROM sessions", "UPDATE sessions SET token_hash = NULL"),
		"the tokens of an ended session are accepted": change("NOT EXISTS (SELECT 1 FROM revoked_tokens", "EXISTS (SELECT 1 FROM sessions WHERE id = ?)", "? <> ''"),
		"the tokens of a revoked client are accepted": change("NOT EXISTS (SELECT 1 FROM revoked_tokens", "client_id = ? AND token_generation = ?", "client_id = ? AND ? IS NOT NULL"),
		"sessions are removed early":                  early("sessions", "2592000000000"),
		"a step commits twice": rules(
			simulation.Rule{In: "UPDATE runs SET revision", Old: "AND revision = ?", New: "AND ? > 0"},
			simulation.Rule{In: "FROM auth_requests WHERE id = ? AND granted IS NULL", Old: "granted IS NULL AND ", New: ""},
			simulation.Rule{In: "UPDATE auth_requests SET granted", Old: "granted IS NULL AND ", New: ""}),
		"a removed role stays":           without("DELETE FROM role_assignments"),
		"a role of another user counts":  change("WITH RECURSIVE belongs", "FROM role_assignments WHERE user_id = ?", "FROM role_assignments WHERE (user_id = ? OR user_id IS NOT NULL)"),
		"a new password is not stored":   change("INSERT INTO passwords", "hash = excluded.hash", "hash = passwords.hash"),
		"a new password ends no session": change("FROM sessions WHERE user_id = ? ORDER BY id", "WHERE user_id = ?", "WHERE user_id = ? AND id = ''"),
		"an audit event is lost":         without("INSERT INTO events"),
		"a notification is queued twice": change("INSERT INTO deliveries", "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
			"VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8), (?1||'x', ?2, ?3, ?4, ?5, ?6, ?7, ?8)"),
		"a notification is lost":             without("INSERT INTO deliveries"),
		"a failed notification is dropped":   change("UPDATE deliveries SET not_before = ? WHERE id", "UPDATE deliveries SET not_before = ? WHERE", "DELETE FROM deliveries WHERE ? > 0 AND"),
		"a client of a session is forgotten": without("INSERT INTO session_clients"),
		"a write is acknowledged and lost":   {Lose: 25},
	}
}
