package store_test

import (
	"bytes"
	"database/sql"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// The database has nothing of a passkey session in the clear, and what it has opens
// once, in its place alone.
func TestSealedSessionIsBound(t *testing.T) {
	at := time.Date(2030, 1, 2, 3, 4, 5, 6789, time.UTC)
	for name, where := range databases() {
		t.Run(name, func(t *testing.T) {
			c := where(t)
			log := &bytes.Buffer{}
			box, err := token.NewFrequentCipher(bytes.Repeat([]byte{1}, 32))
			noError(t, err)
			s := store.SealedSessions{Store: storetest.Open(t, c), Box: box, Log: slog.New(slog.NewTextHandler(log, nil))}
			db, err := sql.Open(c.Driver, c.DSN)
			noError(t, err)
			t.Cleanup(func() { noError(t, db.Close()) })
			put := func(owner string) schemas.PasskeySession {
				p := schemas.PasskeySession{TokenHash: schemas.HashSecret(owner), Ceremony: schemas.AuthenticationCeremony, Owner: owner,
					State: json.RawMessage(`{"challenge":"` + typed + `"}`), ExpiresAt: at.Add(time.Minute)}
				noError(t, s.PutPasskeySession(t.Context(), p))
				return p
			}
			for _, test := range []struct{ name, change string }{
				{"nothing", ""},
				{"another owner", "owner = 'other'"},
				{"the other ceremony", "ceremony = 'registration'"},
				{"more time", "expires_at = expires_at + 1"},
				{"the state of another", "state = (SELECT state FROM passkey_sessions WHERE owner = 'bob')"},
				{"a state in the clear", `state = '{"challenge":"known"}'`},
				{"a state that is no seal's", `state = '"AAAA"'`},
				{"a state that is not base64", `state = '"?"'`},
				{"no state", `state = NULL`},
			} {
				t.Run(test.name, func(t *testing.T) {
					log.Reset()
					p, _ := put("ann"), put("bob")
					var kept string
					noError(t, db.QueryRowContext(t.Context(), "SELECT state FROM passkey_sessions WHERE owner = 'ann'").Scan(&kept))
					if kept == "" || strings.Contains(kept, typed) {
						t.Errorf("the database keeps %q", kept)
					}
					if test.change != "" {
						_, err = db.ExecContext(t.Context(), "UPDATE passkey_sessions SET "+test.change+" WHERE owner = 'ann'")
						noError(t, err)
					}
					got, err := s.TakePasskeySession(t.Context(), p.TokenHash, at)
					if test.change == "" {
						noError(t, err)
						equal(t, "the state", string(got.State), string(p.State))
						_, err = s.TakePasskeySession(t.Context(), p.TokenHash, at)
					} else if !strings.Contains(log.String(), "cannot be decrypted") || strings.Contains(log.String(), typed) {
						t.Errorf("the log says %q", log)
					}
					if !schemas.HasCode(err, schemas.CodeStaleSession) {
						t.Errorf("%v, expected %s", err, schemas.CodeStaleSession)
					}
				})
			}
		})
	}
}
