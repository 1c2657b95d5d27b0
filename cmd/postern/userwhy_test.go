package main

import (
	"net/http"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/signins"
	"github.com/postern-id/postern/schemas"
)

// signInsOf returns what an administrator reads about the sign-ins of a user: the API's report, and
// the text of the command.
func (w *testApp) signInsOf(userID, token string) (r signins.Report, text string) {
	w.t.Helper()
	rec := w.call(http.MethodGet, "/users/"+userID+"/sign-in-attempts", token, "")
	if rec.Code != http.StatusOK {
		w.t.Fatalf("%d %s", rec.Code, rec.Body)
	}
	datatest.Unmarshal(w.t, rec.Body.Bytes(), &r)
	var out strings.Builder
	if err := writeSignIns(&out, "pat", r, nil); err != nil {
		w.t.Fatal(err)
	}
	return r, out.String()
}

// The replies to a wrong password, to the right one of an account that may not sign in, to an account
// without a password and to an unknown name do not differ. The administrator reads the true reason,
// and only that.
func TestRefusedPasswordsAreExplained(t *testing.T) {
	onTwoInstances(t, explainRefusedPasswords)
}

func explainRefusedPasswords(t *testing.T, w, _ *testApp) {
	admin, pat := w.admin(), w.userNamed("pat")
	attempt := func(name, password string) string {
		_, said := w.signInAs(name, password)
		return volatile.ReplaceAllString(said, "$1")
	}
	same := attempt("pat", newPassword)
	for reason, test := range map[string]struct {
		change         func(u *schemas.User)
		password, want string
	}{
		schemas.ReasonWrongPassword: {active, newPassword, "The password was wrong."},
		schemas.CodeAccountDisabled: {inactive()[schemas.CodeAccountDisabled], rpPassword, "The account was disabled when the user authenticated."},
		schemas.CodeAccountLocked:   {inactive()[schemas.CodeAccountLocked], rpPassword, "The account was locked when the user authenticated."},
	} {
		w.mustChangeUser(pat, admin, test.change)
		if got := attempt("pat", test.password); got != same {
			t.Errorf("%s: the reply is %s, want %s", reason, got, same)
		}
		report, text := w.signInsOf(pat, admin)
		if steps := report.Attempts[0].Steps; len(steps) != 2 || steps[0].Code != reason || steps[0].Sentences[0].Text != test.want || steps[0].Node == "" {
			t.Errorf("%s: the steps are %+v", reason, steps)
		}
		if !strings.Contains(text, "not signed in, application ") || !strings.Contains(text, "\n  "+test.want) || !strings.Contains(text, "("+reason+"; flow ") {
			t.Errorf("%s: the text is %s", reason, text)
		}
	}
	w.mustChangeUser(pat, admin, active)

	w.enrol("ada") // without a password
	ada := w.userNamed("ada")
	if got := attempt("ada", rpPassword); got != same {
		t.Errorf("without a password: the reply is %s, want %s", got, same)
	}
	report, _ := w.signInsOf(ada, admin)
	if s := report.Attempts[0].Steps[0]; s.Code != schemas.ReasonNoPassword || s.Sentences[0].Text != "A password was entered, but the account has none." {
		t.Errorf("without a password: %+v", s)
	}
	if got := attempt("nobody", rpPassword); got != same {
		t.Errorf("an unknown name: the reply is %s, want %s", got, same)
	}
	for _, user := range []string{ada, pat} {
		report, _ := w.signInsOf(user, admin)
		for _, a := range report.Attempts {
			for _, s := range a.Steps {
				if s.Code == schemas.ReasonUnknownUser {
					t.Errorf("the attempt with an unknown name is on the page of %s", user)
				}
			}
		}
	}
}

// A caller without the permission for the audit log reads the state of the account only, and one without
// the permission for users nothing.
func TestSignInsNeedTheAuditLog(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, w, _ *testApp) {
		pat := w.userNamed("pat")
		w.signInAs("pat", newPassword)
		report, text := w.signInsOf(pat, w.holder("hilda", "system:users:read"))
		if report.Attempts != nil || len(report.State) != 1 || !strings.Contains(text, "system:audit:read") {
			t.Errorf("got %+v, %s", report, text)
		}
		path := "/users/" + pat + "/sign-in-attempts"
		if rec := w.call(http.MethodGet, path, w.holder("arthur", "system:audit:read"), ""); rec.Code != http.StatusForbidden {
			t.Errorf("an auditor without the permission for users: %d %s", rec.Code, rec.Body)
		}
		if rec := w.call(http.MethodGet, "/users/"+schemas.NewID()+"/sign-in-attempts", w.admin(), ""); rec.Code != http.StatusNotFound {
			t.Errorf("an unknown user: %d %s", rec.Code, rec.Body)
		}
	})
}

// A flow that denies a user says why, and the report names the application.
func TestDeniedSignInsAreExplained(t *testing.T) {
	onTwoInstances(t, func(t *testing.T, w, _ *testApp) {
		admin, pat := w.admin(), w.userNamed("pat")
		flow := w.made(admin, "/flows", `{"handle":"closed","name":"Closed","flowType":"AUTHENTICATION","nodes":[
			{"id":"who","use":"prompt","with":{"inputs":[{"identifier":"username","type":"TEXT_INPUT","required":true},{"identifier":"password","type":"PASSWORD_INPUT","required":true}],"actions":[{"ref":"continue"}]},"next":"find"},
			{"id":"find","use":"user-resolve","with":{"by":["username"],"from":"username"},"next":{"found":"check","missing":"who"}},
			{"id":"check","use":"password-authenticate","next":{"success":"active","failure":"who"}},
			{"id":"active","use":"decision","with":{"cases":[{"when":"user.hasPasskey","outcome":"key"}]},"next":{"key":"done","otherwise":"no"}},
			{"id":"no","use":"deny","with":{"message":"Your contract has ended."}},{"id":"done","use":"authorization-code"}]}`)
		app := w.application(admin, "Wiki", "authFlowId", flow)
		if s := w.answer(w.signInTo(app), "continue", map[string]string{"username": "pat", "password": rpPassword}); s.FlowStatus == schemas.Complete {
			t.Fatalf("%+v", s)
		}
		report, _ := w.signInsOf(pat, admin)
		var out strings.Builder
		if err := writeSignIns(&out, "pat", report, map[string]string{app: "Wiki"}); err != nil {
			t.Fatal(err)
		}
		expectTexts(t, out.String(), "not signed in, application Wiki\n", "The flow does not permit this user to sign in (deny). The reason: Your contract has ended. (denied; flow closed")
		if report.Attempts[0].ApplicationID != app {
			t.Errorf("%+v", report.Attempts[0])
		}
	})
}
