package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"filippo.io/age"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// runProgram runs a command with an environment, and returns its exit code and both outputs.
func runProgram(t testing.TB, environ []string, args ...string) (code int, output string) {
	t.Helper()
	var out logtest.Buffer
	code = program{args: args, environ: environ, stdout: &out, stderr: &out}.run(t.Context())
	return code, out.String()
}

// mustRun runs a command that succeeds.
func mustRun(t testing.TB, environ []string, args ...string) string {
	t.Helper()
	code, output := runProgram(t, environ, args...)
	if code != exitFine {
		t.Fatalf("postern %s: exit code %d\n%s", strings.Join(args, " "), code, output)
	}
	return output
}

// copyKey copies the key-encryption key of a server to a data folder.
func (w *testApp) copyKey(dir string) {
	w.t.Helper()
	datatest.WriteFile(w.t, filepath.Join(dir, "keys", "key-encryption.key"), datatest.ReadFile(w.t, w.cfg.Keys.File))
}

// signUpUntil signs users up until the context ends, and returns their number.
func (w *testApp) signUpUntil(ctx context.Context) (n int) {
	for ctx.Err() == nil {
		n++
		w.enrol(fmt.Sprintf("load%d", n))
	}
	return n
}

// A backup of a server under load, of both databases, is restored in both. Users sign in there
// with a passkey and with a password, and the audit log is intact. What was issued before does not
// work any more.
func TestBackupUnderLoad(t *testing.T) {
	onDatabases(t, func(t *testing.T, environ ...string) {
		w := newTestApp(t, environ...)
		w.enrol("ada")
		before := w.authenticate(w.start(schemas.Authentication)).Assertion
		admin := w.admin()
		open := w.start(schemas.Authentication)
		file := filepath.Join(t.TempDir(), "backup")

		ctx, stop := context.WithCancel(t.Context())
		var load sync.WaitGroup
		users := 0
		other := *w
		other.device = passkeytest.New(passkeytest.NoCounter()) // that of ada knows only one passkey
		load.Go(func() { users = other.signUpUntil(ctx) })
		first := mustRun(t, w.cfg.Environ, "backup", file)
		mustRun(t, w.cfg.Environ, "backup", "--force", file)
		stop()
		load.Wait()
		if !strings.Contains(first, "backed up ") || !strings.Contains(first, "The backup does not contain the key-encryption key.") || users == 0 {
			t.Errorf("%d users: %s", users, first)
		}

		onDatabases(t, func(t *testing.T, environ ...string) {
			restored := append(testEnvironment(t.TempDir()), environ...)
			if code, output := runProgram(t, restored, "restore", file); code != exitUsage || !strings.Contains(output, "the key that opens this store's signing keys is missing") {
				t.Errorf("without the key: %d %s", code, output)
			}
			cfg := loadConfig(t, restored)
			w.copyKey(cfg.DataDir)
			mustRun(t, restored, "restore", "--check", file)
			output := mustRun(t, restored, "restore", file)
			if !strings.Contains(output, "The audit log is intact") {
				t.Error(output)
			}
			again := newTestAppIn(t, restored)
			again.device = w.device
			again.wantRestored(t, before, admin, open)
			if output := mustRun(t, restored, "audit", "verify"); !strings.Contains(output, "The audit log is intact") {
				t.Error(output)
			}
		})
	})
}

// wantRestored checks that users sign in, and that what was issued before the backup is invalid.
func (w *testApp) wantRestored(t *testing.T, assertion, admin string, open schemas.Step) {
	t.Helper()
	w.t = t
	if s := w.authenticate(w.start(schemas.Authentication)); s.FlowStatus != schemas.Complete {
		t.Errorf("sign-in with a passkey: %+v", s)
	}
	s := w.answer(w.answer(w.signInTo(bootstrap.ConsoleID), "password", nil), "continue", map[string]string{"username": "admin", "password": adminPassword})
	if s.FlowStatus != schemas.Complete {
		t.Errorf("sign-in with a password: %+v", s)
	}
	if status, said := w.attempt("/organization-units", s.Assertion, map[string]string{"handle": "new", "name": "New"}); status != http.StatusCreated {
		t.Errorf("a change: %d %s", status, said)
	}
	for name, token := range map[string]string{"an assertion": assertion, "an access token": admin} {
		if _, err := w.tokens.Verify(t.Context(), token, w.cfg.Server.PublicURL); err == nil {
			t.Errorf("%s of before the backup is valid", name)
		}
	}
	if status, said := w.attempt("/flow/execute", "", map[string]any{"executionId": open.ExecutionID, "challengeToken": open.ChallengeToken, "inputs": map[string]string{}}); status == http.StatusOK {
		t.Errorf("a sign-in that was in progress continues: %s", said)
	}
	events, err := w.store.Events(t.Context(), schemas.EventQuery{Limit: 5, Action: "store.restored"})
	if err != nil || len(events) != 1 || events[0].Detail["continued"] != "false" {
		t.Errorf("%+v, %v", events, err)
	}
}

// One-time secrets that may have been used since the backup do not work after it: recovery codes,
// codes of authenticator apps, links. With --continue everything goes on.
func TestRestoredSecretsWorkOnce(t *testing.T) {
	sequential(t)
	w := newTestApp(t)
	w.enrol("ada")
	session := w.authenticate(w.start(schemas.Authentication)).Assertion
	user, err := w.store.UserByAttribute(t.Context(), "", "username", "ada")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	step := totp.Step(now) - 3
	err = w.store.Apply(t.Context(), storetest.Authorized([]schemas.Change{
		schemas.SetRecoveryCodes{UserID: user.ID, Hashes: [][]byte{schemas.HashSecret("code")}, At: now},
		schemas.SetTOTP{TOTP: schemas.TOTP{UserID: user.ID, Secret: []byte("sealed"), LastStep: step, CreatedAt: now}},
		schemas.CreateLink{Link: schemas.Link{TokenHash: schemas.HashSecret("link"), UserID: user.ID, Purpose: schemas.InvitationLink, CreatedAt: now, ExpiresAt: now.Add(time.Hour)}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "backup")
	mustRun(t, w.cfg.Environ, "backup", file)
	for _, c := range []struct {
		flags            []string
		codes            int
		continues, later bool // whether the session continues; whether only later codes of apps work
		output           string
	}{
		{nil, 0, false, true, "1 links and 1 recovery codes"},
		{[]string{"--keep-recovery-codes"}, 1, false, true, "1 links and 0 recovery codes"},
		{[]string{"--continue"}, 1, true, false, "Start the server"},
	} {
		t.Run(strings.Join(c.flags, " "), func(t *testing.T) {
			environ := testEnvironment(t.TempDir())
			cfg := loadConfig(t, environ)
			w.copyKey(cfg.DataDir)
			if output := mustRun(t, environ, append(append([]string{"restore"}, c.flags...), file)...); !strings.Contains(output, c.output) {
				t.Errorf("%s, expected %q", output, c.output)
			}
			h := newTestAppIn(t, environ)
			codes, err := h.store.RecoveryCodes(t.Context(), user.ID)
			left := 0
			if codes != nil {
				left = codes.Left
			}
			if err != nil || left != c.codes {
				t.Errorf("%d recovery codes, %v", left, err)
			}
			app, err := h.store.TOTP(t.Context(), user.ID)
			if err != nil || app == nil || (app.LastStep > totp.Step(now)) != c.later || !c.later && app.LastStep != step {
				t.Errorf("%+v, %v", app, err)
			}
			if _, err := h.tokens.Verify(t.Context(), session, h.cfg.Server.PublicURL); (err == nil) != c.continues {
				t.Errorf("the session: %v", err)
			}
			if n, err := h.store.CountLinks(t.Context(), user.ID, schemas.InvitationLink, "", time.Time{}); err != nil || (n == 1) != c.continues {
				t.Errorf("%d links, %v", n, err)
			}
		})
	}
}

// A backup that cannot be restored changes nothing.
func TestRestoreChangesNothing(t *testing.T) {
	sequential(t)
	onDatabases(t, func(t *testing.T, environ ...string) {
		source := newTestApp(t)
		file := filepath.Join(t.TempDir(), "backup")
		mustRun(t, source.cfg.Environ, "backup", file)
		text := datatest.ReadFile(t, file)
		dir := t.TempDir()
		environ = append(testEnvironment(dir), environ...)
		w := newTestAppIn(t, environ)
		events, err := w.store.Events(t.Context(), schemas.EventQuery{Limit: 100})
		if err != nil {
			t.Fatal(err)
		}
		if code, output := runProgram(t, environ, "restore", "--force", file); w.cfg.Database.Driver == "sqlite" && (code != exitUsage || !strings.Contains(output, "another process uses")) {
			t.Errorf("while the store is open: %d %s", code, output)
		}
		if err := w.store.Close(); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string][]byte{"cut": text[:len(text)-20], "changed": append(bytes.Clone(text[:len(text)-9]), 0, 0, 0, 0, 0, 0, 0, 0, 0), "empty": nil} {
			datatest.WriteFile(t, file, text)
			if code, output := runProgram(t, environ, "restore", "--force", file); code != exitUsage || !strings.Contains(output, "damaged") {
				t.Errorf("%s: %d %s", name, code, output)
			}
		}
		again := openForTest(t, w.cfg, w.log)
		after, err := again.store.Events(t.Context(), schemas.EventQuery{Limit: 100})
		if err != nil || len(after) != len(events) {
			t.Errorf("%d events, had %d, %v", len(after), len(events), err)
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "database", ".postern*")); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
	})
}

// rewriteBackup returns a backup with other lines and the digest of these, as a person without the key can
// make it.
func rewriteBackup(t *testing.T, text []byte, change func(line string) string, mac func(was string) string) []byte {
	t.Helper()
	in, err := gzip.NewReader(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	to, digest := gzip.NewWriter(&out), sha256.New()
	for line := range strings.Lines(string(all)) {
		if strings.HasPrefix(line, `{"end":`) {
			var last struct{ End map[string]any }
			datatest.Unmarshal(t, []byte(line), &last)
			last.End["sha256"] = hex.EncodeToString(digest.Sum(nil))
			was, _ := last.End["mac"].(string)
			last.End["mac"] = mac(was)
			line = string(datatest.Marshal(t, map[string]any{"end": last.End})) + "\n"
		} else {
			line = change(line)
			_, _ = io.WriteString(digest, line)
		}
		if _, err := io.WriteString(to, line); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// A person who can write to a backup, and has no key, adds a permission to a role.
func TestRestoreOfChangedBackup(t *testing.T) {
	w := newTestApp(t)
	w.made(w.admin(), "/roles", `{"name":"Reader","permissions":["system:users:read"]}`)
	dir := t.TempDir()
	file := filepath.Join(dir, "backup")
	mustRun(t, w.cfg.Environ, "backup", file)
	text := datatest.ReadFile(t, file)
	same := func(s string) string { return s }
	grant := func(line string) string { // a row of role_permissions has the permission and the role
		if strings.Count(line, ",") > 1 {
			return line
		}
		return strings.Replace(line, `["system:users:read",`, `["system",`, 1)
	}
	changed := func(mac func(string) string) []byte { return rewriteBackup(t, text, grant, mac) }
	if bytes.Equal(changed(same), rewriteBackup(t, text, same, same)) {
		t.Fatal("the backup does not contain the permission")
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	identities := filepath.Join(dir, "identity")
	datatest.WriteFile(t, identities, identity.String()+"\n")
	encrypted := func(text []byte) []byte {
		var out bytes.Buffer
		to, err := age.Encrypt(&out, identity.Recipient())
		if err == nil {
			_, err = to.Write(text)
		}
		if err := errors.Join(err, to.Close()); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	withKey := func(line string) string {
		return strings.Replace(line, `"format":"postern-backup"`, `"format":"postern-backup","keys":["`+base64.StdEncoding.EncodeToString(bytes.Repeat([]byte{7}, 32))+`"]`, 1)
	}
	none := func(string) string { return "" }
	for name, test := range map[string]struct {
		text  []byte
		flags []string
		want  string // part of the refusal; "" for none
	}{
		"unchanged":                       {text, nil, ""},
		"unchanged, and encrypted":        {encrypted(text), []string{"--identity-file", identities}, ""},
		"the MAC of before":               {changed(same), nil, "its MAC does not match its content"},
		"no MAC":                          {changed(none), nil, "it has no MAC"},
		"unchanged without a MAC":         {rewriteBackup(t, text, same, none), nil, "it has no MAC"},
		"another MAC":                     {changed(func(was string) string { return strings.Repeat("0", len(was)) }), nil, "its MAC does not match its content"},
		"encrypted for the public key":    {encrypted(changed(same)), []string{"--identity-file", identities}, "its MAC does not match its content"},
		"with a key of its own":           {rewriteBackup(t, text, withKey, same), nil, "its MAC does not match its content"},
		"the operator accepts the change": {changed(none), []string{"--unverified"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			environ := testEnvironment(t.TempDir())
			w.copyKey(loadConfig(t, environ).DataDir)
			datatest.WriteFile(t, file, test.text)
			for _, check := range [][]string{{"--check"}, nil} {
				code, output := runProgram(t, environ, slices.Concat([]string{"restore"}, check, test.flags, []string{file})...)
				if (code == exitFine) != (test.want == "") || !strings.Contains(output, test.want) || code != exitFine && !strings.Contains(output, "--unverified") {
					t.Errorf("%q: exit code %d, %s", check, code, output)
				}
			}
		})
	}
}

// A backup with the server's key, encrypted for a public key, proves nothing: anyone can make one.
func TestRestoreWithKeyOfBackup(t *testing.T) {
	w := newTestApp(t)
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	recipients, identities, file := filepath.Join(dir, "recipients"), filepath.Join(dir, "identity"), filepath.Join(dir, "backup")
	datatest.WriteFile(t, recipients, identity.Recipient().String()+"\n")
	datatest.WriteFile(t, identities, identity.String()+"\n")
	mustRun(t, w.cfg.Environ, "backup", "--include-key", "--recipients-file", recipients, file)
	if code, output := runProgram(t, testEnvironment(t.TempDir()), "restore", "--identity-file", identities, file); code == exitFine || !strings.Contains(output, "the key that it contains itself") {
		t.Errorf("%d %s", code, output)
	}
	mustRun(t, testEnvironment(t.TempDir()), "restore", "--unverified", "--identity-file", identities, file)
}

// The container image has no folder for temporary files.
func TestRestoreWithoutTemporaryFolder(t *testing.T) {
	sequential(t)
	source := newTestApp(t)
	working := t.TempDir()
	file := filepath.Join(t.TempDir(), "backup")
	mustRun(t, source.cfg.Environ, "backup", file)
	t.Chdir(working)
	t.Setenv("TMPDIR", filepath.Join(working, "none"))
	mustRun(t, source.cfg.Environ, "restore", "--check", file)
	if left, err := os.ReadDir(working); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// A refused restoration to a folder that does not exist creates none.
func TestRefusedRestoreLeavesNoFolder(t *testing.T) {
	sequential(t)
	source := newTestApp(t)
	file := filepath.Join(t.TempDir(), "backup")
	mustRun(t, source.cfg.Environ, "backup", file)
	text := datatest.ReadFile(t, file)
	datatest.WriteFile(t, file, text[:len(text)-20])
	parent := t.TempDir()
	dir := filepath.Join(parent, "new", "data")
	if code, output := runProgram(t, testEnvironment(dir), "restore", file); code != exitUsage || !strings.Contains(output, "nothing was changed") {
		t.Errorf("a damaged backup: %d %s", code, output)
	}
	if left, err := os.ReadDir(parent); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// PostgreSQL is not replaced while a server uses it.
func TestRestoreWaitsForServers(t *testing.T) {
	environ := append(testEnvironment(t.TempDir()), "POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN="+storetest.Postgres(t))
	w := newTestAppIn(t, environ)
	file := filepath.Join(t.TempDir(), "backup")
	mustRun(t, environ, "backup", file)
	if code, output := runProgram(t, environ, "restore", "--force", file); code != exitUsage || !strings.Contains(output, "1 server(s) use the database: stop them first") {
		t.Errorf("%d %s", code, output)
	}
	w.close()
	if code, output := runProgram(t, environ, "restore", file); code != exitUsage || !strings.Contains(output, "the store is not empty") {
		t.Errorf("%d %s", code, output)
	}
	mustRun(t, environ, "restore", "--force", file)
}

// A database that a later release has changed incompatibly is not replaced, and the error describes how
// to return to this release.
func TestRestoreOverLaterSchema(t *testing.T) {
	dsn := storetest.Postgres(t)
	environ := append(testEnvironment(t.TempDir()), "POSTERN_DATABASE_DRIVER=postgres", "POSTERN_DATABASE_DSN="+dsn)
	newTestAppIn(t, environ).close()
	file := filepath.Join(t.TempDir(), "backup")
	mustRun(t, environ, "backup", file)
	db, err := sql.Open("postgres", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`UPDATE store_state SET value = 9999 WHERE name = 'compatible_from'; INSERT INTO goose_db_version (version_id, is_applied) VALUES (9999, true)`); err != nil {
		t.Fatal(err)
	}
	code, output := runProgram(t, environ, "restore", "--force", file)
	if code != exitUsage || !strings.Contains(output, "schema version 9999") || !strings.Contains(output, "create an empty database") {
		t.Errorf("%d %s", code, output)
	}
}
