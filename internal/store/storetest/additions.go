package storetest

import (
	"slices"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// testFormerChains replaces or removes a password. What it alone has added is marked also if an addition in
// between was removed or replaced, and what rests on more is not.
func testFormerChains(t *testing.T, s *store.Store) {
	at := func(minute int) time.Time { return noon().Add(time.Duration(minute) * time.Minute) }
	for name, end := range map[string]func(userID string) schemas.Change{
		"replaced": func(id string) schemas.Change {
			return schemas.SetPassword{UserID: id, ID: "second", Hash: "$argon2id$2", At: at(9)}
		},
		"removed": func(id string) schemas.Change { return schemas.RemovePassword{UserID: id, At: at(9)} },
	} {
		user := newUser(name)
		password := schemas.Proof{Kind: schemas.PasswordProof, Of: "first-of-" + name}
		by := func(proofs ...schemas.Proof) schemas.Provenance {
			return schemas.Provenance{ACR: schemas.ACRPassword, Methods: []string{"pwd"}, Proofs: proofs}
		}
		key := func(id string, by schemas.Provenance) schemas.Credential {
			c := newCredential(user.ID)
			c.ID, c.Name, c.AddedBy = schemas.Bytes(id+" of "+name), id, by
			return c
		}
		proofOf := func(c schemas.Credential) schemas.Proof { return c.Addition().Proof }
		own := key("own", schemas.Provenance{})
		first := key("first", by(password))
		second := key("second", by(proofOf(first)))
		third := key("third", by(password, proofOf(own)))
		app, later := newTOTP(user.ID), newTOTP(user.ID)
		app.CreatedAt, app.AddedBy = at(1), by(password)
		later.CreatedAt, later.AddedBy = at(2), by(password, schemas.ProofOfTOTP(&app))
		address := func(mail string, by schemas.Provenance) schemas.Change {
			return schemas.UpdateUser{UserID: user.ID, Attributes: map[string]any{"email": mail, "email_verified": true}, At: at(3), AddedBy: by}
		}
		one, two := name+"-one@example.com", name+"-two@example.com"
		byMail := key("by mail", by(schemas.ProofOfEmail(one)))
		identity := newIdentity(user.ID, "subject of "+name)
		identity.AddedBy = by(proofOf(second))
		apply(t, s, append(create(user), schemas.SetPassword{UserID: user.ID, ID: password.Of, Hash: "$argon2id$1", At: noon()})...)
		apply(t, s, schemas.CreateCredential{Credential: own}, schemas.CreateCredential{Credential: first}, schemas.CreateCredential{Credential: second}, schemas.CreateCredential{Credential: third},
			schemas.SetTOTP{TOTP: app}, address(one, by(password)), schemas.LinkIdentity{Identity: identity})
		apply(t, s, schemas.CreateCredential{Credential: byMail}, schemas.DeleteCredential{UserID: user.ID, ID: first.ID, At: at(4)},
			schemas.SetTOTP{TOTP: later}, address(two, by(schemas.ProofOfEmail(one))))
		apply(t, s, end(user.ID))
		former, err := store.FormerAdditions(t.Context(), s, user.ID)
		must(t, err)
		var got []string
		for _, a := range former {
			got = append(got, a.Type+" "+a.Name)
		}
		slices.Sort(got)
		wantEqual(t, "the additions after a password was "+name, got, []string{"email " + two, "identity Example Corp: ann@example.com", "passkey by mail", "passkey second", "totp "})
		apply(t, s, address("own-"+name+"@example.com", schemas.Provenance{})) // an administrator
		former, err = store.FormerAdditions(t.Context(), s, user.ID)
		must(t, err)
		wantEqual(t, "the additions after another address", len(former), 4)
	}
}
