package store

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/postern-id/postern/schemas"
)

// A credential may change during a sign-in that uses it: verification is slow, and a run takes
// minutes. Two locks on the user's row make the outcome serial. A write that depends on a
// credential (a commit with RequireProofs, a new session) takes a shared lock; a write that changes
// or removes a credential, or disables the user, takes an exclusive one. If the change comes first,
// the sign-in finds it and fails; if the sign-in comes first, the change finds the session and ends
// it.
//
// Every transaction locks in this order, so that no two wait for each other: users,
// then runs, then sessions, then the rest. SQLite has one writer and needs no locks.

const (
	// The lock is that of PostgreSQL; see prepare.
	shareUser = `SELECT status, locked_until FROM users WHERE id = ?` + forShare

	// shareActiveUser is shareUser for an active user.
	shareActiveUser = `SELECT 1 FROM users WHERE id = ? AND status = '` + schemas.UserActive + `'
		AND (locked_until IS NULL OR locked_until <= ?)` + forShare

	selectProofPassword = `SELECT 1 FROM passwords WHERE user_id = ? AND id = ?`
	selectProofPasskey  = `SELECT 1 FROM credentials WHERE user_id = ? AND id = ?`
	selectProofTOTP     = `SELECT 1 FROM totp WHERE user_id = ? AND created_at = ?`
	selectProofRecovery = `SELECT 1 FROM recovery_codes WHERE user_id = ? AND hash = ?`
	selectProofIdentity = `SELECT 1 FROM identities WHERE user_id = ? AND id = ?`
	selectProofSession  = `SELECT 1 FROM sessions WHERE user_id = ? AND id = ?`

	selectOwnSessions = `SELECT ` + sessionColumns + ` FROM sessions WHERE user_id = ? ORDER BY id`

	updateSessionProofs = `UPDATE sessions SET proofs = ? WHERE id = ?`

	deleteOtherRuns = `DELETE FROM runs WHERE user_id = ? AND user_id <> '' AND status = 'INCOMPLETE' AND id <> ?`
)

// actor is the run and sessions on whose behalf a transaction writes. The transaction must not
// end them, and its events name the actor.
type actor struct {
	run      string
	sessions []string
	event    schemas.Event

	known known
}

// known caches what a transaction has read and no other transaction can change until it ends.
type known struct {
	user       *schemas.User // locked, with the ID, status and lock; in a batch only the ID
	active     time.Time     // when a batch requires the user to be active
	session    string        // started by user
	credential string        // a passkey of user, whose row was written; outside a batch
}

// forget clears the cache of known. Call it before a write that may change the cached data.
func (t *Tx) forget() { t.actor.known = known{} }

// actorOf derives the acting run and sessions from the changes of a step.
func actorOf(run string, changes []schemas.Change) actor {
	a := actor{run: run}
	for _, change := range changes {
		switch c := change.(type) {
		case schemas.RequireProofs:
			for _, p := range c.Proofs {
				if p.Kind == schemas.SessionProof {
					a.sessions = append(a.sessions, p.Of)
				}
			}
		case schemas.RecordEvent:
			if a.event.ID == "" {
				a.event = c.Event
			}
		}
	}
	return a
}

// lockFirst locks the users that the changes depend on or write, before any other lock. A user that
// does not exist yet is not an error.
func (t *Tx) lockFirst(changes []schemas.Change) error {
	if t.inBatch() {
		return t.requireFirst(changes)
	}
	exclusive := map[string]bool{}
	for _, change := range changes {
		if id, writes := schemas.LockedBy(change); id != "" {
			exclusive[id] = exclusive[id] || writes
		}
	}
	for _, id := range slices.Sorted(maps.Keys(exclusive)) {
		var err error
		if exclusive[id] {
			_, err = t.lockUser(id)
		} else {
			_, err = t.shareUser(id)
		}
		if err != nil && !schemas.HasCode(err, schemas.CodeUserNotFound) {
			return err
		}
	}
	return nil
}

// requireFirst is lockFirst for a batch: it requires that the user of the changes is active. Changes
// that write a user's data, or rest on several users, need a transaction.
func (t *Tx) requireFirst(changes []schemas.Change) error {
	user := ""
	for _, change := range changes {
		id, writes := schemas.LockedBy(change)
		if writes || id != "" && user != "" && id != user {
			return t.batch.breaks()
		}
		user = cmp.Or(user, id)
		var err error
		switch c := change.(type) {
		case schemas.RequireProofs:
			err = t.requireActive(id, c.At)
		case schemas.StartSession:
			err = t.requireActive(id, c.Time())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shareUser checks that the user exists and blocks changes of the user's credentials and
// status until the transaction ends. It returns the ID, status and lock.
func (t *Tx) shareUser(id string) (*schemas.User, error) {
	if u := t.actor.known.user; !t.inBatch() && u != nil && u.ID == id {
		return u, nil
	}
	u, err := readOne(t.row(shareUser, id), func(row scanner, u *schemas.User) error {
		u.ID = id
		return row.Scan(&u.Status, (*nullTime)(&u.LockedUntil))
	}, errNoUser)
	if err == nil {
		t.actor.known = known{user: u}
	}
	return u, err
}

// requireActive returns an error unless the user may sign in at the given time.
func (t *Tx) requireActive(id string, at time.Time) error {
	if t.inBatch() {
		if k := &t.actor.known; k.user == nil || k.user.ID != id || !k.active.Equal(at) {
			*k = known{user: &schemas.User{ID: id}, active: at}
			return t.batch.require(shareActiveUser, id, toMicros(at))
		}
		return nil
	}
	u, err := t.shareUser(id)
	if err != nil {
		return err
	}
	if inactive := u.CheckActive(at); inactive != nil {
		return inactive
	}
	return nil
}

// requireProofs checks the precondition of a change that depends on an authentication.
func (t *Tx) requireProofs(c schemas.RequireProofs) error {
	err := t.requireActive(c.UserID, c.At)
	if schemas.HasCode(err, schemas.CodeUserNotFound) || err == nil && len(c.Proofs) == 0 {
		return schemas.ErrSuperseded()
	}
	if err != nil {
		return err
	}
	for _, p := range c.Proofs {
		has, err := t.hasProof(c.UserID, p)
		if err != nil {
			return err
		}
		if !has {
			return schemas.ErrSuperseded()
		}
	}
	return nil
}

// hasProof reports whether a user has the credential of a proof.
func (t *Tx) hasProof(userID string, p schemas.Proof) (bool, error) {
	if t.inBatch() {
		return true, t.requireProof(userID, p)
	}
	if p.Kind == schemas.EmailProof {
		u, err := readOne(t.row(selectUser, userID), scanUser, errNoUser)
		return err == nil && schemas.ProofOfEmail(u.Text("email")).IsOf(p), err
	}
	if t.knowsProof(userID, p) {
		return true, nil
	}
	if isLinkProof(p) {
		hash, err := schemas.ParseBytes(p.Of)
		if err != nil {
			return false, err
		}
		return exists(t.ctx, t, selectProofInvitation, userID, nonNilBytes(hash), string(p.Kind), t.actor.run)
	}
	q, key, err := proofQuery(p)
	if err != nil {
		return false, err
	}
	return exists(t.ctx, t, q, userID, key)
}

// requireProof adds the condition that a user has the credential of a proof to a batch.
func (t *Tx) requireProof(userID string, p schemas.Proof) error {
	if p.Kind == schemas.SessionProof && t.knowsProof(userID, p) {
		return nil
	}
	if p.Kind == schemas.EmailProof || isLinkProof(p) {
		return t.batch.breaks()
	}
	q, key, err := proofQuery(p)
	if err != nil {
		return err
	}
	if !slices.Contains(t.batch.written, rowOfProof(userID, p)) {
		q += forShare
	}
	return t.batch.require(q, userID, key)
}

// isLinkProof reports whether a proof is of a link, whose kind is the purpose of the link.
func isLinkProof(p schemas.Proof) bool {
	return p.Kind == schemas.InvitationProof || p.Kind == schemas.EnrolmentProof
}

// useProof changes the row of a credential that a sign-in uses. A batch cannot lock such a row for
// reading too, and need not: the change fails if another transaction has removed the row, and the
// columns that identify a credential never change. row is the value of rowOfProof.
func (t *Tx) useProof(row schemas.Proof, unchanged func() error, q string, args ...any) error {
	if t.inBatch() {
		t.batch.written = append(t.batch.written, row)
	}
	return t.change(unchanged, q, args...)
}

// rowOfProof identifies the row of a proof's credential. A user has one authenticator app.
func rowOfProof(userID string, p schemas.Proof) schemas.Proof {
	if p.Kind == schemas.TOTPProof {
		p.Of = userID
	}
	return p.Credential()
}

// knowsProof reports whether this transaction has written the credential or session of a proof.
func (t *Tx) knowsProof(userID string, p schemas.Proof) bool {
	k := t.actor.known
	switch {
	case k.user == nil || k.user.ID != userID || p.Of == "":
		return false
	case p.Kind == schemas.SessionProof:
		return k.session == p.Of
	case p.Kind == schemas.PasskeyProof:
		return k.credential == p.Of
	}
	return false
}

// proofQuery finds the credential of a proof by the user and a key.
func proofQuery(p schemas.Proof) (q string, key any, err error) {
	switch p.Kind {
	case schemas.PasswordProof:
		return selectProofPassword, p.Of, nil
	case schemas.PasskeyProof:
		id, err := schemas.ParseBytes(p.Of)
		return selectProofPasskey, nonNilBytes(id), err
	case schemas.TOTPProof:
		at, err := strconv.ParseInt(p.Of, 10, 64)
		return selectProofTOTP, at, err
	case schemas.RecoveryProof:
		hash, err := hex.DecodeString(p.Of)
		return selectProofRecovery, nonNilBytes(hash), err
	case schemas.IdentityProof:
		return selectProofIdentity, p.Of, nil
	case schemas.SessionProof:
		return selectProofSession, p.Of, nil
	}
	return "", nil, fmt.Errorf("store: unknown kind of proof %q", p.Kind)
}
