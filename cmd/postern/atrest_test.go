package main

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// Passkey challenges and values that users enter during a sign-in or sign-up are in no file
// of the database, and not in its log, in the clear.
func TestRunsAtRest(t *testing.T) {
	dir := t.TempDir()
	w := newTestApp(t, "POSTERN_DATA_DIR="+dir)
	s := w.signInTo(w.shop(w.admin(), "code_as_second_factor.yaml"))
	s = w.answer(s, "continue", map[string]string{"username": "admin", "password": adminPassword})
	secret := s.Data.AdditionalData["totpSecret"]
	wantAtRest(t, dir, s.ExecutionID, adminPassword, secret)

	shown, err := totp.Key{Secret: secret, Algorithm: totp.SHA1, Digits: 6}.Code(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	s = w.answer(s, "submit", map[string]string{"otp": shown})
	var codes []string
	if err := json.Unmarshal([]byte(s.Data.AdditionalData["recoveryCodes"]), &codes); err != nil {
		t.Fatalf("%v: %+v", err, s)
	}
	wantAtRest(t, dir, s.ExecutionID, append(codes, secret)...)

	const name = "someone-who-signs-up"
	s = w.answer(w.start(schemas.Registration), "continue", map[string]string{"username": name})
	var options struct{ Challenge string }
	if err := json.Unmarshal([]byte(s.Data.AdditionalData["passkeyCreationOptions"]), &options); err != nil {
		t.Fatalf("%v: %+v", err, s)
	}
	wantAtRest(t, dir, s.ExecutionID, name, options.Challenge)
}

// The same holds for the challenges of the endpoints of single ceremonies.
func TestPasskeySessionsAtRest(t *testing.T) {
	dir := t.TempDir()
	w := newTestApp(t, "POSTERN_DATA_DIR="+dir)
	var started struct {
		SessionToken                      string
		PublicKeyCredentialRequestOptions struct{ Challenge string }
	}
	w.post("/auth/passkey/start", map[string]any{}, &started)
	wantAtRest(t, dir, "anonymous:", started.SessionToken, started.PublicKeyCredentialRequestOptions.Challenge)
}

// wantAtRest fails the test if a file of the folder contains one of the secrets; and if
// none contains the text that the database stores in the clear, because then the files are
// the wrong ones.
func wantAtRest(t *testing.T, dir, clear string, secrets ...string) {
	t.Helper()
	found := false
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		found = found || bytes.Contains(content, []byte(clear))
		for i, secret := range secrets {
			if secret == "" || bytes.Contains(content, []byte(secret)) {
				t.Errorf("%s has secret %d, %q, in the clear", filepath.Base(path), i, secret)
			}
		}
		return err
	})
	if err != nil || !found {
		t.Errorf("the run %s is in no file of the database: %v", clear, err)
	}
}
