package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/postern-id/postern/internal/store"
)

// upgradeEffect is a change of this program that users of an existing store notice.
type upgradeEffect struct {
	// schema is the schema version of the release that makes the change. Stores of this version or a later one
	// have had the upgrade.
	schema int64
	// change is what the new rule changes, a sentence. affected is what count counts, in the plural.
	change, affected string
	// remedy is what an operator does for them.
	remedy string
	// locksOut reports whether an account may lose its last way in, or the store its last administrator. Such
	// effects are reported first.
	locksOut bool
	// lasts reports whether the effect matters after the upgrade too, for doctor.
	lasts bool
	// count counts the affected without changing the store. It works with the schema before the upgrade and with
	// the one after it: see store.ReadUnmigrated.
	count store.Count
}

// upgradeEffects lists the effects of this program's rules on stores that earlier programs have filled.
var upgradeEffects = []upgradeEffect{
	{
		schema: 55, locksOut: true, lasts: true,
		change:   "An administrator who has had a passkey confirms changes of credentials with a passkey, also after losing it.",
		affected: "administrators without a passkey who have had one",
		remedy:   "register a passkey for them before the upgrade, or print an enrolment link with `postern admin recover USER` after it",
		count: store.Counting(`SELECT COUNT(*) FROM administrators a CROSS JOIN users u WHERE u.id = a.user_id AND u.status = 'active'
			AND NOT EXISTS (SELECT 1 FROM credentials c WHERE c.user_id = u.id AND ` + store.CountsInFull + `)
			AND EXISTS (SELECT 1 FROM events e WHERE e.user_id = u.id AND e.user_id <> '' AND e.action IN ('passkey.registered', 'passkey.deleted'))`),
	},
	{
		schema: 55, locksOut: true,
		change:   "The built-in sign-in asks users with an authenticator app for its code.",
		affected: "users whose authenticator app was never used since it was added, and who have no unused recovery code",
		remedy:   "ask these users whether they still have the app; remove it from the accounts of those who do not",
		count: store.Counting(`SELECT COUNT(*) FROM totp t WHERE t.last_used_at IS NULL
			AND NOT EXISTS (SELECT 1 FROM recovery_codes r WHERE r.user_id = t.user_id AND r.used_at IS NULL)`),
	},
	{
		schema:   55,
		change:   "The built-in sign-in asks users with an authenticator app for its code.",
		affected: "users with an authenticator app",
		remedy:   "announce it to these users; an own flow that must not ask is a copy of the former one",
		count:    store.Counting("SELECT COUNT(*) FROM totp"),
	},
	{
		schema: 55, lasts: true,
		change:   "An application without allowedUserTypes admits only users of types whose identifiers are unique among all users.",
		affected: "applications without allowedUserTypes, in a store with types that have identifiers of their own",
		remedy:   "list the types of the users of each application in its allowedUserTypes",
		count: store.Counting(`SELECT COUNT(*) FROM applications a WHERE (a.allowed_user_types IS NULL OR a.allowed_user_types = '')
			AND EXISTS (SELECT 1 FROM user_types t WHERE t.identifier_scope = 'userType')`),
	},
	{
		schema: 55, lasts: true,
		change: "A browser is known for what the user proved in it, and every browser from before the upgrade for a password only. " +
			"For users with a second factor or a passkey, user.knowsBrowser is false until they have proved two factors or used a passkey there.",
		affected: "flows that read user.knowsBrowser without a strength",
		remedy:   `write the strength in these flows, such as user.knowsBrowser("mfa")`,
		count: store.Counting(`SELECT COUNT(*) FROM flows f JOIN flow_versions v ON v.flow_id = f.id AND v.version = f.active_version
			WHERE REPLACE(CAST(v.definition AS TEXT), 'user.knowsBrowser(', '') LIKE '%user.knowsBrowser%'`),
	},
}

// countedEffect is an effect with the number of those affected.
type countedEffect struct {
	upgradeEffect
	n int
}

// countEffects returns the effects of the list that affect anything, those that lock out first.
func countEffects(ctx context.Context, r store.Reader, list []upgradeEffect) (found []countedEffect, err error) {
	for _, e := range list {
		n, err := e.count(ctx, r)
		if err != nil {
			return nil, fmt.Errorf("counting %s: %w", e.affected, err)
		}
		if n > 0 {
			found = append(found, countedEffect{e, n})
		}
	}
	slices.SortStableFunc(found, func(a, b countedEffect) int { return cmp.Compare(rank(a), rank(b)) })
	return found, nil
}

func rank(e countedEffect) int {
	if e.locksOut {
		return 0
	}
	return 1
}

// planEffects counts what the upgrade of a store from a schema version changes for its users.
func planEffects(ctx context.Context, on store.Config, from int64) (found []countedEffect, err error) {
	pending := slices.DeleteFunc(slices.Clone(upgradeEffects), func(e upgradeEffect) bool { return e.schema <= from })
	err = store.ReadUnmigrated(ctx, on, func(r store.Reader) error {
		found, err = countEffects(ctx, r, pending)
		return err
	})
	return found, err
}

// printEffects prints the part of the plan about the users.
func printEffects(w io.Writer, found []countedEffect) {
	if len(found) == 0 {
		fmt.Fprintln(w, "The upgrade changes nothing for the users of this store.")
		return
	}
	fmt.Fprintln(w, "What changes for users:")
	for _, e := range found {
		if e.locksOut {
			fmt.Fprintln(w, "Before the upgrade: this can lock users out.")
		}
		fmt.Fprintf(w, "%7d %s\n        %s\n        To do: %s.\n", e.n, e.affected, e.change, e.remedy)
	}
}

// checkEffects reports what the rules of this release still change for users of the store.
func (d *doctor) checkEffects(ctx context.Context) {
	const check = "upgrade"
	lasting := slices.DeleteFunc(slices.Clone(upgradeEffects), func(e upgradeEffect) bool { return !e.lasts })
	var found []countedEffect
	err := d.app.store.Snapshot(ctx, func(r store.Reader) (err error) {
		found, err = countEffects(ctx, r, lasting)
		return err
	})
	if err != nil {
		d.fail(check, "check the database", "%v", err)
	}
	for _, e := range found {
		d.warn(check, e.remedy, "%d %s: %s", e.n, e.affected, e.change)
	}
	if !d.hasProblems(check) {
		d.ok(check, "no user is affected by changed rules")
	}
}
