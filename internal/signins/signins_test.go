package signins

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
)

// Each step of a ceremony and each check of an identity provider has a sentence.
func TestEachReasonHasASentence(t *testing.T) {
	for _, step := range passkey.Steps() {
		if reasonTexts()[schemas.PasskeyReasonPrefix+string(step)] == "" {
			t.Errorf("the step %s has no sentence", step)
		}
	}
	for _, check := range federation.Checks() {
		if reasonTexts()[schemas.FederationReasonPrefix+string(check)] == "" {
			t.Errorf("the check %s has no sentence", check)
		}
	}
}

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

// log is an audit log, newest first.
type log []schemas.Event

func (l log) Events(_ context.Context, q schemas.EventQuery) (found []schemas.Event, _ error) {
	for _, e := range l {
		if (q.UserID == "" || e.UserID == q.UserID) && (q.Action == "" || e.Action == q.Action) &&
			(q.ExecutionDigest == "" || e.ExecutionDigest == q.ExecutionDigest) && (!q.Failures || slices.Contains(schemas.FailureActions(), e.Action)) && len(found) < q.Limit {
			found = append(found, e)
		}
	}
	return found, nil
}

// run returns the events of a run, one a second from second, newest first.
func run(id string, second int, events ...schemas.Event) (l log) {
	for i, e := range events {
		if e.At = noon.Add(time.Duration(second+i) * time.Second); e.Detail["same"] != "" {
			e.At = l[0].At
		}
		e.ID, e.ExecutionDigest = id+string(rune('a'+i)), id
		l = append(log{e}, l...)
	}
	return l
}

func event(action, userID string, detail ...string) schemas.Event {
	e := schemas.Event{Action: action, UserID: userID, Detail: map[string]string{}}
	for i := 0; i < len(detail); i += 2 {
		e.Detail[detail[i]] = detail[i+1]
	}
	return e
}

func failed(userID, reason string, detail ...string) schemas.Event {
	return event("attempt.failed", userID, append([]string{"reason", reason, "error", "invalid_credentials"}, detail...)...)
}

func TestExplain(t *testing.T) {
	tests := map[string]struct {
		run  log
		want []string
	}{
		"a wrong password": {run("r", 0, failed("ada", schemas.ReasonWrongPassword)), []string{"The password was wrong.", nothingMore}},
		"an earlier release": {
			run("r", 0, event("attempt.failed", "ada", "error", "invalid_credentials"), event("user.sign_in_refused", "ada", "reason", "account_locked", "kind", "password-authenticate"), event("attempt.failed", "ada", "error", "invalid_credentials", "same", "x")),
			[]string{"The username, the password or the code was not accepted.", "The account was locked when the user authenticated.", nothingMore},
		},
		"a locked account at a password": {
			run("r", 0, event("user.sign_in_refused", "ada", "reason", "account_locked", "error", "invalid_credentials", "kind", "password-authenticate")),
			[]string{"The account was locked when the user authenticated.", nothingMore},
		},
		"a locked account at a passkey": {
			run("r", 0, event("passkey.used", "ada"), event("user.sign_in_refused", "ada", "reason", "account_locked", "kind", "passkey-authenticate")),
			[]string{"The passkey was accepted.", "The account was locked when the user authenticated."},
		},
		"a wrong mailed code": {
			run("r", 0, event("email_code.sent", "ada"), failed("ada", schemas.ReasonWrongMailedCode, "kind", "email-otp")),
			[]string{"A code was sent by mail.", "The mailed code was wrong.", nothingMore},
		},
		"an unverified address": {
			run("r", 0, event("email_code.not_sent", "ada", "reason", schemas.ReasonUnverified)),
			[]string{"A code was requested, but not mailed: the address of the account is not verified.", nothingMore},
		},
		"an identity provider": {
			run("r", 0, event("identity.refused", "ada", "check", "audience", "reason", "the audience is x, not y"), event("attempt.failed", "ada", "error", "federation_failed", "reason", "federation_audience", "same", "x")),
			[]string{"The reply is from another identity provider, or for another client. The reason: the audience is x, not y", nothingMore},
		},
		"a copied passkey, before the run had a user": {
			run("r", 0, event("passkey.refused", "ada", "step", "counter"), event("attempt.failed", "", "error", "passkey_failed", "reason", "passkey_counter", "same", "x")),
			[]string{"The passkey may have been copied and was refused.", nothingMore},
		},
		"the last attempt": {
			run("r", 0, failed("ada", schemas.ReasonUsedCode, "end", schemas.CodeTooManyAttempts, "repeated", "4")),
			[]string{"The code of the authenticator app had been used before: each code is valid once. Too many attempts failed, so the run ended. The user can start again. This happened 4 times from this network within an hour."},
		},
		"an unknown name in the same run": {
			run("r", 0, failed("ada", schemas.ReasonWrongPassword), failed("", schemas.ReasonUnknownUser)),
			[]string{"The password was wrong.", "There is no user with the name that was entered.", nothingMore},
		},
		"another user in the same run": {
			run("r", 0, failed("ada", schemas.ReasonWrongPassword), failed("bob", schemas.ReasonWrongPassword), event("user.signed_in", "bob")),
			[]string{"The password was wrong.", signedInAs},
		},
		"a canceled sign-in": {
			run("r", 0, failed("ada", schemas.ReasonWrongPassword), event("user.sign_in_canceled", "ada", "error", "access_denied")),
			[]string{"The password was wrong.", "The user canceled the sign-in."},
		},
		"consents": {
			append(append(run("r", 20, event("consent.missing", "ada", "reason", schemas.ReasonStaleSignIn)), run("q", 10, event("consent.missing", "ada", "reason", schemas.ReasonNoPermissions))...), run("p", 0, event("consent.denied", "ada"))...),
			[]string{"The user had signed in too long ago to grant these permissions: the application must ask for a new sign-in.", "The user has none of the permissions that the application requested.", "The user did not agree that the application gets access."},
		},
		"a consent of an earlier release": {run("r", 0, event("consent.missing", "ada")), []string{"The user could not agree that the application gets access."}},
		"an invitation": {
			run("r", 0, event("invitation.opened", "ada"), event("invitation.accepted", "ada"), event("passkey.registered", "ada"), event("user.signed_in", "ada")),
			[]string{"The user opened the link of the invitation.", "The user accepted the invitation: the account has its first credential.", "The user added a passkey.", "The user signed in."},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var r Report
			if err := r.Explain(t.Context(), test.run, "ada"); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, a := range r.Attempts {
				for _, s := range a.Steps {
					line := ""
					for _, sentence := range s.Sentences {
						line += " " + sentence.String()
					}
					got = append(got, line[1:])
				}
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// A report has the latest attempts, those without a sign-in first, without what other users did.
func TestReport(t *testing.T) {
	var all log
	for i, id := range []string{"r1", "r2", "r3", "r4", "r5", "r6"} {
		all = append(run(id, i*10, failed("ada", schemas.ReasonWrongPassword), event("guesses.exhausted", "ada")), all...)
	}
	all = append(run("r7", 100, failed("bob", schemas.ReasonWrongPassword)), all...)
	var r Report
	if err := r.Explain(t.Context(), all, "ada"); err != nil || len(r.Attempts) != 5 || r.Attempts[0].ExecutionDigest != "r6" {
		t.Errorf("%+v, %v", r, err)
	}
	all = append(run("r8", 150, failed("ada", schemas.ReasonWrongPassword), event("user.signed_in", "ada")), all...)
	r = Report{}
	if err := r.Explain(t.Context(), all, "ada"); err != nil || r.Attempts[0].ExecutionDigest != "r6" || !r.Attempts[4].SignedIn {
		t.Errorf("a sign-in that succeeded in the end is not last: %+v, %v", r, err)
	}
}

// Each blocked secret has a sentence, and the report the time of the last.
func TestBlockedSecrets(t *testing.T) {
	var r Report
	if r.AddBlocked(nil); r.BlockedAt != nil || r.State != nil {
		t.Errorf("nothing is blocked: %+v", r)
	}
	at := time.Date(2026, 1, 5, 8, 0, 0, 0, time.UTC)
	for i, secret := range schemas.AccountSecrets() {
		r.AddBlocked([]schemas.BlockedSecret{{Secret: secret, At: at.Add(time.Duration(i) * time.Hour)}})
	}
	r.AddBlocked([]schemas.BlockedSecret{{Secret: schemas.TOTPSecret, At: at}})
	if len(r.State) != 5 || !r.BlockedAt.Equal(at.Add(3*time.Hour)) || !strings.HasPrefix(r.State[2].String(), "The authenticator app is disabled since 2026-01-05T10:00:00Z") {
		t.Errorf("%+v", r)
	}
	for _, s := range r.State {
		if s.Text == "" || !slices.Contains(Texts(), s.Text) {
			t.Errorf("no text: %+v", s)
		}
	}
}

func TestDescribeState(t *testing.T) {
	user := func(status string, until time.Time, attributes map[string]any) *schemas.User {
		return &schemas.User{Status: status, LockedUntil: until, Attributes: attributes}
	}
	for want, u := range map[string]*schemas.User{
		isActive:   user("", time.Time{}, map[string]any{"email": "ada@example.org", "email_verified": true}),
		isDisabled: user(schemas.UserDisabled, time.Time{}, nil),
		"The account is locked until 2030-01-02T13:00:00Z: the user cannot sign in by any means before that.": user("", noon.Add(time.Hour), nil),
		isActive + "The lock of the account ended at 2030-01-02T11:00:00Z.":                                   user("", noon.Add(-time.Hour), nil),
		isActive + (Sentence{isUnverified, map[string]string{"email": "ada@example.org"}}).String():           user("", time.Time{}, map[string]any{"email": "ada@example.org"}),
	} {
		got := ""
		for _, s := range DescribeState(u, true, noon) {
			got += s.String()
		}
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := DescribeState(user("", time.Time{}, nil), false, noon); len(got) != 2 || got[1].Text != hasNoMethod {
		t.Errorf("a user without a way to sign in: %v", got)
	}
}

// trimmed is a log whose retention removes the events of runs between two queries.
type trimmed struct{ log }

func (l trimmed) Events(ctx context.Context, q schemas.EventQuery) ([]schemas.Event, error) {
	if q.ExecutionDigest != "" {
		return nil, nil
	}
	return l.log.Events(ctx, q)
}

func TestExplainTrimmedRun(t *testing.T) {
	var r Report
	if err := r.Explain(t.Context(), trimmed{run("one", 0, failed("ada", schemas.ReasonWrongPassword))}, "ada"); err != nil || len(r.Attempts) != 0 {
		t.Errorf("%+v, %v", r.Attempts, err)
	}
}
