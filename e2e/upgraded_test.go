package e2e_test

import (
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// TestUpgradedStore fills a store with the previous release, with all kinds of credentials, clients and unfinished
// work, and continues with this one: every user still signs in in the ways of before, no user has a further
// permission, and what the API returns differs only as testdata/upgrade/differences.yaml lists, each with its
// sentence in CHANGELOG.md.
func TestUpgradedStore(t *testing.T) {
	t.Parallel()
	for _, driver := range []string{"sqlite", "postgres"} {
		t.Run(driver, func(t *testing.T) {
			t.Parallel()
			f := newFilledStore(t, driver)
			f.fill()
			before, rights := f.snapshot(), f.rights()
			f.upgrade()
			f.compare(before, f.snapshot())
			f.compareRights(rights)
			f.checkClients()
			f.checkUsers()
			f.checkUnfinished()
			f.command("audit", "verify")
		})
	}
}

// newFilledStore starts the previous release with the trimmed audit log in testdata/upgrade/trimmed.backup.
func newFilledStore(t *testing.T, driver string) *filledStore {
	t.Helper()
	dir := t.TempDir()
	p := newServer(t, []string{"serve", "--try"}, "http", "localhost", "POSTERN_DATA_DIR="+filepath.Join(dir, "data"),
		"POSTERN_OUTBOUND_ALLOW=127.0.0.1,localhost", "POSTERN_OAUTH_DCR_INSECURE=true",
		"POSTERN_OAUTH_CLIENT_METADATA_DOCUMENTS_ALLOWED_HOSTS=127.0.0.1", "POSTERN_DATABASE_DRIVER="+driver)
	p.dir = dir
	if driver == "postgres" {
		p.env = append(p.env, "POSTERN_DATABASE_DSN="+storetest.Postgres(t))
	}
	p.program = previousRelease(t)
	p.restoreTrimmed()
	p.command("keys", "re-encrypt", "--new-key")
	p.start()
	return &filledStore{postern: p}
}

// trimmed is a backup of a store whose audit log was trimmed, sealed with the key trimmedKey.
// `go test ./e2e -run TestTrimmedBackup -update` writes it with the previous release, in two minutes.
const (
	trimmed    = "testdata/upgrade/trimmed.backup"
	trimmedKey = "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA="
)

// upgrade stops the previous release, and starts this one.
func (f *filledStore) upgrade() {
	f.t.Helper()
	f.program = ""
	if code := f.terminate(); code != 0 {
		f.t.Errorf("the previous release ended with exit code %d\n%s", code, f.log)
	}
	f.refuse("1 administrators without a passkey who have had one\n", "migrate", "--plan")
	f.start()
	for _, w := range f.ways {
		w.user.mailedCodes = 0 // the mailbox of --try is in memory
	}
}

// checkUsers signs all users in as before the upgrade.
func (f *filledStore) checkUsers() {
	f.t.Helper()
	for _, w := range f.ways {
		got := f.signInBy(w)
		if got.Failure != w.before.Failure || got.User != w.before.User {
			f.t.Errorf("%s (%s at %s): %+v, before the upgrade %+v", w.what, w.user.name, w.app, got, w.before)
		}
		if more := without(got.Scopes, w.before.Scopes); len(more) > 0 {
			f.t.Errorf("%s (%s at %s): the assertion has the further scopes %q", w.what, w.user.name, w.app, more)
		}
	}
}

// without returns the items of a list that are not in another one.
func without(list, other []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(item string) bool { return slices.Contains(other, item) })
}

// checkClients uses the tokens and the sessions from before the upgrade.
func (f *filledStore) checkClients() {
	f.t.Helper()
	for _, c := range f.clients {
		checks := map[string]grantedTokens{}
		if c.user == nil {
			checks["new tokens"] = f.grant(c)
		} else {
			checks["refreshed tokens"] = f.token(c, url.Values{"grant_type": {"refresh_token"}, "refresh_token": {c.before.Refresh}})
			if r := f.send(http.MethodGet, "/oauth2/userinfo", "", bearer(c.before.Access)); r.status != http.StatusOK {
				f.t.Errorf("userinfo for an access token of the %s client: %d %s", c.name, r.status, r.body)
			}
			checks["the session"] = f.bySession(c)
		}
		for how, got := range checks {
			if got.Access == "" {
				f.t.Errorf("%s of the %s client: %+v", how, c.name, got)
			}
			if more := without(strings.Fields(got.Scope), strings.Fields(c.before.Scope)); len(more) > 0 {
				f.t.Errorf("%s of the %s client have the further scopes %q", how, c.name, more)
			}
		}
	}
}

// bySession gets tokens with the session of the user's browser. Clients whose users are asked each time get none.
func (f *filledStore) bySession(c *tokenClient) grantedTokens {
	f.t.Helper()
	back := c.user.follow(f.authorize(c, "prompt", "none")).Query()
	if back.Get("code") == "" {
		f.t.Errorf("the session of %s at the %s client: %v", c.user.name, c.name, back)
		return grantedTokens{}
	}
	return f.token(c, url.Values{"grant_type": {"authorization_code"}, "code": {back.Get("code")}, "code_verifier": {codeVerifier}, "redirect_uri": {redirectURI}})
}

// checkUnfinished completes what was begun before the upgrade.
func (f *filledStore) checkUnfinished() {
	f.t.Helper()
	s, err := f.waiting.user.execute(object{"executionId": f.step.ExecutionID, "challengeToken": f.step.ChallengeToken})
	for tried := map[string]int{}; err == nil && s.FlowStatus == schemas.Incomplete; {
		s, err = f.waiting.user.answer(s, tried)
	}
	f.complete(s, err)

	ivan := &agent{postern: f.newBrowser(), name: "ivan", device: passkeytest.New(), invitation: f.invited}
	f.complete(ivan.runFlow(object{"applicationId": f.apps["Keys"], "flowType": "INVITATION"}))
	if got := f.signInBy(&signInWay{app: "Keys", user: ivan}); got.Failure != "" {
		f.t.Errorf("the invited user: %+v", got)
	}
	f.logout.recover()
	f.logout.waitForToken()
}

// rights are the permissions of users and applications.
type rights map[string][]string

// rights reads the permissions of all users, through all their roles, and those of applications with their scopes.
func (f *filledStore) rights() rights {
	f.t.Helper()
	all, ofRole := rights{}, map[string][]string{}
	var roles struct{ Roles []schemas.Role }
	f.get(f.t, "/roles?limit=100", &roles)
	for _, role := range roles.Roles {
		ofRole[role.ID] = role.Permissions
		var list struct{ Assignments []schemas.Principal }
		f.get(f.t, "/roles/"+role.ID+"/assignments?limit=100", &list)
		for _, p := range list.Assignments {
			all[p.ID] = append(all[p.ID], role.Permissions...)
		}
	}
	var users struct{ Users []schemas.User }
	f.get(f.t, "/users?limit=100", &users)
	for _, u := range users.Users {
		var access struct{ Roles []schemas.Membership }
		f.get(f.t, "/users/"+u.ID+"/access", &access)
		for _, role := range access.Roles {
			all[u.ID] = append(all[u.ID], ofRole[role.ID]...)
		}
	}
	return all
}

func (f *filledStore) compareRights(before rights) {
	f.t.Helper()
	for id, list := range f.rights() {
		if more := without(list, before[id]); len(more) > 0 {
			f.t.Errorf("%s has the further permissions %q", id, more)
		}
	}
}
