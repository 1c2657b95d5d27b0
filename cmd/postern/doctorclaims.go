package main

import (
	"context"
	"fmt"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// checkClaims looks for authoritative claims that users can set, and for addresses without verification: changes that
// introduce such claims are refused, but they may have been stored before.
func (d *doctor) checkClaims(ctx context.Context) {
	const check = "claims"
	list, err := d.app.directory.SettableClaims(ctx, directory.SystemCall())
	if err != nil {
		d.warn(check, "run `postern doctor` again when the database answers", "they cannot be checked: %v", err)
		return
	}
	unverified, settable := map[string]bool{}, map[string]bool{}
	for _, c := range list {
		switch {
		case c.Authoritative:
			d.warn(check, c.Fix, "users can set the claim %s (%s) of the application %s, which is authoritative: %s", c.Claim, c.Declared, c.Application, c.Where)
		case c.Place.Kind == schemas.WithoutMail:
			unverified[c.ApplicationID] = true
		default:
			settable[c.ApplicationID+" "+c.Claim] = true
		}
	}
	if d.hasProblems(check) {
		return
	}
	withoutMail := ""
	if n := len(unverified); n > 0 {
		withoutMail = fmt.Sprintf("; the server sends no mail, so %d applications may get addresses that are not verified, unless they have identifiesBy: email", n)
	}
	d.ok(check, "users can set %d claims that applications declare, none of them authoritative; `postern prove` names them%s", len(settable), withoutMail)
}
