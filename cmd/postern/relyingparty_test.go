package main

import (
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/logtest"
	"github.com/postern-id/postern/schemas"
)

// A server whose relying party id has changed reports the passkeys that its sign-in pages cannot use.
func TestPasskeysOfAnotherRelyingParty(t *testing.T) {
	w := createUsers(t)
	var text logtest.Buffer
	w.log = newLog(&text, w.cfg.Log)
	w.reportOtherRelyingParties(t.Context())
	if text.String() != "" {
		t.Errorf("without passkeys the log has %s", text.String())
	}
	u := w.userNamed("pat")
	for i, rp := range []string{"login.old.example", "login.old.example", w.cfg.Passkey.RelyingPartyID} {
		w.apply(schemas.CreateCredential{Credential: schemas.Credential{ID: schemas.Bytes{byte(i)}, UserID: u, Name: "Key", RPID: rp, PublicKey: schemas.Bytes{1}, Algorithm: -7, CreatedAt: time.Now()}})
	}
	w.reportOtherRelyingParties(t.Context())
	for _, part := range []string{"level=WARN", "relyingParty=login.old.example", "passkeys=2", "users=1", "set passkey.relying_party_id back"} {
		if !strings.Contains(text.String(), part) {
			t.Errorf("the log lacks %q: %s", part, text.String())
		}
	}
	d := &doctor{cfg: w.cfg, app: w.app}
	d.checkStoredPasskeys(t.Context())
	if len(d.list) != 1 || d.list[0].Status != statusWarn || !strings.Contains(d.list[0].Message, "2 passkeys of 1 users belong to the relying party login.old.example") {
		t.Errorf("doctor reports %+v", d.list)
	}
}
