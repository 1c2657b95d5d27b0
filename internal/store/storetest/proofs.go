package storetest

import (
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// holder is a user who has one credential of every kind, and the proof of each.
type holder struct {
	user     schemas.User
	proofs   map[schemas.ProofKind]schemas.Proof
	key      schemas.Credential
	identity schemas.Identity
	session  schemas.Session
}

// held are the changes that make the user.
func held() (h *holder, changes []schemas.Change) {
	u := newUser("ann")
	u.Attributes["email"] = "Ann@example.com"
	h = &holder{user: u, key: newCredential(u.ID), identity: newIdentity(u.ID, "ann"), session: newSignIn(u.ID, noon())}
	h.session.AMR = []string{"swk", "pop"}
	app, code, set := newTOTP(u.ID), []byte("the hash of a code"), schemas.SetPassword{UserID: u.ID, ID: schemas.NewID(), Hash: "$argon2id$1", At: noon()}
	h.proofs = map[schemas.ProofKind]schemas.Proof{
		schemas.PasswordProof: {Kind: schemas.PasswordProof, Of: set.ID},
		schemas.PasskeyProof:  {Kind: schemas.PasskeyProof, Of: h.key.ID.String()},
		schemas.TOTPProof:     schemas.ProofOfTOTP(&app),
		schemas.RecoveryProof: schemas.ProofOfRecoveryCode(code),
		schemas.IdentityProof: {Kind: schemas.IdentityProof, Of: h.identity.ID},
		schemas.EmailProof:    schemas.ProofOfEmail("ann@EXAMPLE.com"),
		schemas.SessionProof:  {Kind: schemas.SessionProof, Of: h.session.ID},
	}
	return h, append(create(u), set, schemas.CreateCredential{Credential: h.key}, schemas.SetTOTP{TOTP: app},
		schemas.SetRecoveryCodes{UserID: u.ID, Hashes: [][]byte{code}, At: noon()}, schemas.LinkIdentity{Identity: h.identity},
		schemas.StartSession{Session: h.session})
}

// newHolder creates a holder.
func newHolder(t *testing.T, s RunStore) *holder {
	t.Helper()
	h, changes := held()
	apply(t, s, changes...)
	return h
}

// changed are the changes that replace or remove each kind of credential.
func (h *holder) changed() map[schemas.ProofKind][]schemas.Change {
	later, other := noon().Add(time.Minute), newTOTP(h.user.ID)
	other.CreatedAt = later
	return map[schemas.ProofKind][]schemas.Change{
		schemas.PasswordProof: {schemas.SetPassword{UserID: h.user.ID, Hash: "$argon2id$1", At: noon()}},
		schemas.PasskeyProof:  {schemas.DeleteCredential{UserID: h.user.ID, ID: h.key.ID, At: later}},
		schemas.TOTPProof:     {schemas.SetTOTP{TOTP: other}},
		schemas.RecoveryProof: {schemas.SetRecoveryCodes{UserID: h.user.ID, Hashes: [][]byte{[]byte("another")}, At: later}},
		schemas.IdentityProof: {schemas.UnlinkIdentity{UserID: h.user.ID, ID: h.identity.ID, At: later}},
		schemas.EmailProof:    {schemas.UpdateUser{UserID: h.user.ID, Attributes: map[string]any{"email": "eve@example.com"}, At: later}},
		schemas.SessionProof:  {schemas.EndSession{ID: h.session.ID, At: later}},
	}
}

func (h *holder) require(proofs ...schemas.Proof) []schemas.Change {
	return []schemas.Change{schemas.RequireProofs{UserID: h.user.ID, Proofs: proofs, At: noon()}}
}

// A commit that depends on an authentication succeeds only while every credential of the
// authentication exists.
func testRequireProofs(t *testing.T, s RunStore) {
	h := newHolder(t, s)
	for _, p := range h.proofs {
		apply(t, s, h.require(p)...)
	}
	for kind := range h.proofs {
		wantError(t, s.Apply(t.Context(), h.require(schemas.Proof{Kind: kind, Of: "00"})), schemas.Conflict, schemas.CodeSuperseded)
	}
	wantError(t, s.Apply(t.Context(), h.require()), schemas.Conflict, schemas.CodeSuperseded)
	nobody := schemas.RequireProofs{UserID: schemas.NewID(), Proofs: []schemas.Proof{h.proofs[schemas.PasswordProof]}}
	wantError(t, s.Apply(t.Context(), []schemas.Change{nobody}), schemas.Conflict, schemas.CodeSuperseded)

	order := []schemas.ProofKind{schemas.EmailProof, schemas.IdentityProof, schemas.RecoveryProof, schemas.TOTPProof,
		schemas.PasskeyProof, schemas.SessionProof, schemas.PasswordProof}
	for _, kind := range order {
		apply(t, s, h.changed()[kind]...)
		run := newRun()
		err := s.Commit(t.Context(), run, append(create(newUser("eve")), h.require(h.proofs[kind])...))
		wantError(t, err, schemas.Conflict, schemas.CodeSuperseded)
		if _, err := s.UserByAttribute(t.Context(), "", "username", "eve"); !schemas.HasCode(err, schemas.CodeUserNotFound) {
			t.Fatalf("%s: what rests on a %s that is gone was committed: %v", kind, kind, err)
		}
	}
}

// A proof refers to the credentials after the changes of the commit.
func testProofsOfOneCommit(t *testing.T, s RunStore) {
	h, changes := held()
	for _, p := range h.proofs {
		changes = append(changes, h.require(p)...)
	}
	must(t, s.Commit(t.Context(), newRun(), authorized(changes)))
}

// A sign-in that waits for a transaction that removes its credential fails, and starts no session.
func testProofsRemovedMeanwhile(t *testing.T, s *store.Store) {
	h := newHolder(t, s)
	for _, kind := range []schemas.ProofKind{schemas.SessionProof, schemas.EmailProof, schemas.IdentityProof, schemas.RecoveryProof,
		schemas.TOTPProof, schemas.PasskeyProof, schemas.PasswordProof} {
		session, ended := newSignIn(h.user.ID, noon()), make(chan error, 1)
		update(t, s, func(tx *store.Tx) error {
			err := tx.Apply(authorized(h.changed()[kind]))
			go func() {
				ended <- s.Commit(t.Context(), newRun(), append(start(session), h.require(h.proofs[kind])...))
			}()
			time.Sleep(30 * time.Millisecond) // usually it waits by now; otherwise it begins later
			return err
		})
		wantError(t, <-ended, schemas.Conflict, schemas.CodeSuperseded)
		if got := reply(s.Session(t.Context(), session.ID)).get(t); got != nil {
			t.Errorf("%s: a sign-in with a credential that was removed meanwhile started a session", kind)
		}
	}
}

// A hash is replaced only if it is the one that was verified.
func testRehash(t *testing.T, s RunStore) {
	h := newHolder(t, s)
	rehash := func(verified, hash string) {
		apply(t, s, schemas.RehashPassword{UserID: h.user.ID, Verified: verified, Hash: hash})
	}
	rehash("$argon2id$1", "$argon2id$2")
	rehash("$argon2id$1", "$argon2id$3")
	rehash("", "$argon2id$4")
	password := reply(s.Password(t.Context(), h.user.ID)).get(t)
	wantEqual(t, "the password", []string{password.Hash, password.ID}, []string{"$argon2id$2", h.proofs[schemas.PasswordProof].Of})
	apply(t, s, h.require(h.proofs[schemas.PasswordProof], h.proofs[schemas.SessionProof])...)
	apply(t, s, schemas.RehashPassword{UserID: schemas.NewID(), Hash: "x"})
}

// sessionsOn starts a session for each proof, one without recorded proofs, and one of another user.
// The first is the acting session.
func sessionsOn(t *testing.T, s *store.Store, h *holder) map[schemas.ProofKind]schemas.Session {
	t.Helper()
	bob := newUser("bob")
	others := newSignIn(bob.ID, noon())
	others.Proofs = []schemas.Proof{h.proofs[schemas.PasskeyProof]}
	apply(t, s, append(create(bob), start(others)...)...)
	made := map[schemas.ProofKind]schemas.Session{"other": others, "own": h.session}
	for kind, p := range h.proofs {
		session := newSignIn(h.user.ID, noon())
		session.AMR, session.Proofs = []string{"any"}, []schemas.Proof{p}
		apply(t, s, start(session)...)
		made[kind] = session
	}
	return made
}

// A session ends with the credential with which it started, and its clients are notified.
func testSessionsEndWithCredentials(t *testing.T, s *store.Store) {
	h := newHolder(t, s)
	left := sessionsOn(t, s, h)
	check := func(what string) {
		t.Helper()
		for kind, session := range left {
			live := reply(s.TokenLive(t.Context(), schemas.TokenRef{Session: session.ID})).get(t)
			if !live {
				t.Errorf("%s ended the session on %s", what, kind)
			}
		}
	}
	gone := func(kind schemas.ProofKind) {
		t.Helper()
		live := reply(s.TokenLive(t.Context(), schemas.TokenRef{Session: left[kind].ID})).get(t)
		if live {
			t.Errorf("the session on %s lives on", kind)
		}
		delete(left, kind)
	}
	for _, kind := range []schemas.ProofKind{schemas.IdentityProof, schemas.RecoveryProof, schemas.TOTPProof} {
		apply(t, s, h.changed()[kind]...)
		gone(kind)
		check(string(kind))
	}
	update(t, s, func(tx *store.Tx) error {
		return store.EndSessionsOn(tx, h.user.ID, h.proofs[schemas.EmailProof], noon())
	})
	gone(schemas.EmailProof)
	apply(t, s, h.changed()[schemas.PasskeyProof]...)
	gone(schemas.PasskeyProof)
	gone("own") // its methods contain a passkey, but not which one
	check("the removed passkey")
	apply(t, s, h.changed()[schemas.PasswordProof]...)
	gone(schemas.PasswordProof)
	gone(schemas.SessionProof)
	check("the new password")
}

// The session that removes a credential continues, without that proof.
func testActingSession(t *testing.T, s *store.Store) {
	h := newHolder(t, s)
	acting := newSignIn(h.user.ID, noon())
	acting.Proofs = []schemas.Proof{h.proofs[schemas.PasskeyProof], h.proofs[schemas.TOTPProof], h.proofs[schemas.PasswordProof]}
	apply(t, s, start(acting)...)
	update(t, s, func(tx *store.Tx) error {
		tx.SetActor(acting.ID, schemas.Event{})
		return tx.Apply(authorized(append(h.changed()[schemas.PasskeyProof], h.changed()[schemas.PasswordProof]...)))
	})
	acting.Proofs = acting.Proofs[1:2]
	reply(store.SessionsOf(t.Context(), s, h.user.ID, noon())).equals(t, "the sessions", []schemas.Session{acting})
}

// commitEnd commits changes in a run of a user who has a session, tokens and other runs: these end,
// the client is notified, and the runs of other users continue.
func commitEnd(t *testing.T, a *authorizing, changes ...schemas.Change) {
	t.Helper()
	r := a.redeemed(t, "code")
	mine, other, over, another := newRun(), newRun(), newRun(), newRun()
	mine.UserID, other.UserID, over.UserID = a.user.ID, a.user.ID, a.user.ID
	over.Status, over.State = schemas.Complete, nil
	commit(t, a, mine, other, over, another)
	must(t, a.Commit(t.Context(), next(mine, "done"), authorized(changes)))
	wantRuns(t, a, mine, over, another)
	reply(a.Run(t.Context(), other.ID)).fails(t, schemas.Invalid, schemas.CodeExecutionNotFound)
	reply(a.RefreshFamily(t.Context(), r.ID)).fails(t, schemas.Invalid, schemas.CodeRefreshNotFound)
	if d := claims(t, a.Store, schemas.LogoutDelivery, noon()); d == nil || d.Target != a.client.ID {
		t.Errorf("the client is not notified: %+v", d)
	}
}

func testPasswordEnds(t *testing.T, s *store.Store) {
	a := newAuthorizing(t, s)
	commitEnd(t, a, schemas.SetPassword{UserID: a.user.ID, Hash: "$argon2id$1", At: noon()})
	wantError(t, s.Apply(t.Context(), []schemas.Change{a.grant(a.request())}), schemas.Conflict, schemas.CodeSuperseded)
}

// Of two authenticators with one key that show the same count at the same time, one
// is refused.
func testMustGrow(t *testing.T, s *store.Store) {
	u := newUser("ann")
	key, without := newCredential(u.ID), newCredential(u.ID)
	key.SignCount, without.SignCount = 5, 0
	apply(t, s, append(create(u), schemas.CreateCredential{Credential: key}, schemas.CreateCredential{Credential: without})...)
	use := func(key schemas.Credential, count uint32, grow bool) error {
		return s.Apply(t.Context(), []schemas.Change{schemas.UseCredential{ID: key.ID, SignCount: count, At: noon(), MustGrow: grow}})
	}
	must(t, use(key, 6, true))
	wantError(t, use(key, 6, true), schemas.Invalid, schemas.CodePasskeyFailed)
	must(t, use(key, 6, false))
	must(t, use(key, 7, true))
	must(t, use(without, 0, true))
	must(t, use(without, 0, true))
	unknown := key
	unknown.ID = schemas.Bytes("unknown")
	wantError(t, use(unknown, 9, true), schemas.NotFound, schemas.CodeCredentialNotFound)
}
