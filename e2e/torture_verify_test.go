package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"testing"
)

// verify finds each kind of violation when a change is undone or made again without the ledger.
func TestTortureFindsViolations(t *testing.T) {
	t.Parallel()
	x := newTorture(t)
	x.fail = t.Logf
	byAdmin := func(method, path string, body any) func(*story) error {
		return func(s *story) error {
			return s.client.json(method, strings.ReplaceAll(path, "USER", s.userID), x.admin(), body, nil)
		}
	}
	claim := func(f fact, value string) func(*story) error {
		return func(s *story) error { s.facts[f] = value; return nil }
	}
	deliverAgain := func(s *story) error {
		eventually(t, "the sign-up is delivered", func() bool { x.mu.Lock(); defer x.mu.Unlock(); return x.delivered[s.userID] != nil })
		x.mu.Lock()
		defer x.mu.Unlock()
		x.delivered[s.userID]["another"] = true
		return nil
	}
	claimEdit := func(*story) error { x.edits = append(x.edits, edit{"never-made", true}); return nil }
	nothing := func(*story) error { return nil }
	for name, test := range map[string]struct {
		act, tamper func(*story) error
		want        string
	}{
		"nothing":          {(*story).changePassword, nothing, ""},
		"user lost":        {nothing, byAdmin("DELETE", "/users/USER", nil), "lost"},
		"tokens lost":      {(*story).refreshTwice, byAdmin("DELETE", "/users/USER/sessions", nil), "lost"},
		"revocation":       {(*story).refreshTwice, claim(factTokens, "revoked"), "undone"},
		"disabling":        {(*story).disable, byAdmin("PATCH", "/users/USER", object{"status": "active"}), "undone"},
		"enabling":         {(*story).disableAndEnable, byAdmin("PATCH", "/users/USER", object{"status": "disabled"}), "undone"},
		"role removed":     {(*story).grantAndRemove, byAdmin("PUT", "/roles/"+x.role+"/assignments/user/USER", nil), "undone"},
		"role granted":     {(*story).grant, byAdmin("DELETE", "/roles/"+x.role+"/assignments/user/USER", nil), "undone"},
		"password lost":    {(*story).changePassword, byAdmin("PATCH", "/users/USER", object{"attributes": object{"password": "Another-lantern-77"}}), "lost"},
		"password undone":  {(*story).changePassword, func(s *story) error { s.former = s.facts[factPassword]; return nil }, "undone"},
		"delivery doubled": {nothing, deliverAgain, "doubled"},
		"edit lost":        {nothing, claimEdit, "lost"},
	} {
		clear(x.violations)
		s := x.newStory("user-"+strings.ReplaceAll(name, " ", "-"), nil)
		for _, step := range []func() error{s.signUp, func() error { return s.signIn(false) }, func() error { return test.act(s) }, func() error { return test.tamper(s) }} {
			if err := step(); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		s.client = newTortureClient(x.base, x.clients.port())
		s.verify(x.assignments())
		x.verifyEdits()
		x.edits = nil
		if found := len(x.violations) > 0; found != (test.want != "") || found && x.violations[test.want] == 0 {
			t.Errorf("%s: found %v, want %q", name, x.violations, test.want)
		}
	}
}

// verify restarts the server and compares it with the ledger.
func (x *torture) verify() {
	x.t.Helper()
	x.kill()
	x.start()
	x.renewToken()
	assigned := x.assignments()
	for _, s := range x.stories {
		s.client = newTortureClient(x.base, x.clients.port()) // another browser
		s.verify(assigned)
		s.client.http.CloseIdleConnections()
	}
	x.verifyEdits()
	if code := x.terminate(); code != 0 {
		x.t.Errorf("exit code %d", code)
	}
	path := binary(x.t)
	cmd := exec.Command(path, "audit", "verify")
	cmd.Dir, cmd.Env = x.dir, x.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		x.violate("lost", "audit verify: %v\n%s", err, out)
	}
	first, _, _ := strings.Cut(string(out), "\n")
	x.t.Log(first)
}

// list reads all pages of a list.
func list[T any](x *torture, path, member string) (all []T) {
	x.t.Helper()
	client := newTortureClient(x.base, x.clients.port())
	defer client.http.CloseIdleConnections()
	for {
		var page map[string]json.RawMessage
		var items []T
		err := client.json(http.MethodGet, fmt.Sprintf("%s?limit=100&offset=%d", path, len(all)), x.admin(), nil, &page)
		if err == nil {
			err = json.Unmarshal(page[member], &items)
		}
		if err != nil {
			x.t.Fatal(err)
		}
		if all = append(all, items...); len(items) < 100 {
			return all
		}
	}
}

// assignments are the users of the role.
func (x *torture) assignments() map[string]bool {
	x.t.Helper()
	users := map[string]bool{}
	for _, a := range list[struct{ Type, ID string }](x, "/roles/"+x.role+"/assignments", "assignments") {
		users[a.ID] = true
	}
	return users
}

// verifyEdits makes sure that each acknowledged change of the flow is one version, in order.
func (x *torture) verifyEdits() {
	x.t.Helper()
	versions := map[string]int{}
	for _, v := range list[struct {
		Version int
		Reason  string
	}](x, "/flows/"+x.flow+"/versions", "versions") {
		if versions[v.Reason] != 0 {
			x.violate("doubled", "versions %d and %d of the flow have the reason %q", versions[v.Reason], v.Version, v.Reason)
		}
		versions[v.Reason] = v.Version
	}
	latest := 0
	for _, e := range x.edits {
		version := versions[e.reason]
		if version == 0 && e.acknowledged {
			x.violate("lost", "no version of the flow has the reason %q", e.reason)
		}
		if version != 0 && version < latest {
			x.violate("undone", "%q is version %d, after version %d", e.reason, version, latest)
		}
		latest = max(latest, version)
	}
}

// verify compares the server with the ledger of a user.
func (s *story) verify(assigned map[string]bool) {
	s.t.Helper()
	var found struct {
		Users []struct{ ID, Status string }
	}
	s.read("/users?"+url.Values{"filter": {fmt.Sprintf("username eq %q", s.name)}}.Encode(), &found)
	switch n := len(found.Users); {
	case n > 1:
		s.violate("doubled", "%s: %d users", s.name, n)
	case n == 0 && s.facts[factAccount] != "":
		s.violate("lost", "%s: acknowledged %v; there is no user", s.name, s.facts)
	}
	if len(found.Users) == 0 {
		return
	}
	s.userID = found.Users[0].ID
	s.verifySignUp()
	s.verifyTokens()
	if status, known := s.facts[factStatus]; known && found.Users[0].Status != status {
		s.violate("undone", "%s is %s, acknowledged %s", s.name, found.Users[0].Status, status)
	}
	if role, known := s.facts[factRole]; known && assigned[s.userID] != (role == "granted") {
		s.violate("undone", "%s has the role: %v, acknowledged %s", s.name, assigned[s.userID], role)
	}
	if password, known := s.facts[factPassword]; known {
		s.verifyPassword(password)
	}
	s.verifySignIn(found.Users[0].Status)
}

func (s *story) read(path string, into any) {
	s.t.Helper()
	if err := s.client.json(http.MethodGet, path, s.admin(), nil, into); err != nil {
		s.t.Fatal(err)
	}
}

// verifySignUp makes sure that the sign-up happened once: one passkey, one audit event, one
// delivery. A server that was killed while it sent has claimed the delivery for 65 seconds.
func (s *story) verifySignUp() {
	s.t.Helper()
	var keys struct{ Passkeys []any }
	s.read("/users/"+s.userID+"/passkeys", &keys)
	var log struct{ AuditEvents []any }
	s.read("/audit-events?action=user.created&user="+s.userID, &log)
	if len(keys.Passkeys) != 1 || len(log.AuditEvents) != 1 {
		s.violate(lostOrDoubled(min(len(keys.Passkeys), len(log.AuditEvents))), "%s has %d passkeys and %d events user.created, expected one of each", s.name, len(keys.Passkeys), len(log.AuditEvents))
	}
	deliveries := func() int {
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.delivered[s.userID])
	}
	eventually(s.t, "the sign-up of "+s.name+" is delivered", func() bool { return deliveries() > 0 })
	if n := deliveries(); n != 1 {
		s.violate("doubled", "the sign-up of %s is %d deliveries", s.name, n)
	}
}

func lostOrDoubled(n int) string {
	if n == 0 {
		return "lost"
	}
	return "doubled"
}

// verifyTokens makes sure that live tokens work and revoked ones do not.
func (s *story) verifyTokens() {
	state, known := s.facts[factTokens]
	if !known {
		return
	}
	read := s.client.json(http.MethodGet, "/users/me", s.tokens.Access, nil, nil)
	refreshed := s.refresh(s.tokens, &tokens{})
	switch {
	case state == "live" && (read != nil || refreshed != nil):
		s.violate("lost", "%s: tokens do not work: %v; %v", s.name, read, refreshed)
	case state == "revoked" && (!isRefusal(read) || !isRefusal(refreshed)):
		s.violate("undone", "%s: revoked tokens: access %v; refresh %v", s.name, read, refreshed)
	}
}

// verifyPassword makes sure that the last acknowledged password works and the one before does not.
func (s *story) verifyPassword(password string) {
	if err := s.enterPassword(password); err != nil {
		s.violate("lost", "%s: the password does not work: %v", s.name, err)
	}
	if s.former == "" {
		return
	}
	if err := s.enterPassword(s.former); !isRefusal(err) {
		s.violate("undone", "%s: the former password: %v", s.name, err)
	}
}

// enterPassword signs in to the console's application with a password.
func (s *story) enterPassword(password string) error {
	step, err := s.client.execute(object{"applicationId": consoleID, "flowType": "AUTHENTICATION"})
	if err == nil {
		step, err = s.client.execute(answerTo(step, "password", nil))
	}
	if err == nil {
		_, err = s.client.execute(answerTo(step, "continue", map[string]string{"username": s.name, "password": password}))
	}
	return err
}

// verifySignIn makes sure that the passkey works unless the user is disabled.
func (s *story) verifySignIn(status string) {
	err := s.signIn(false)
	switch {
	case status == "disabled" && !isRefusal(err):
		s.violate("undone", "%s is disabled, and the sign-in: %v", s.name, err)
	case status != "disabled" && err != nil:
		s.violate("lost", "%s cannot sign in: %v", s.name, err)
	}
}
