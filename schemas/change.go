package schemas

import "time"

// Change is a write that a step decides and that the store executes in the transaction that stores
// the run's new revision. All changes are of the types below.
type Change interface {
	// change returns the lock that the change takes on the row of a user.
	change() lock
}

// lock is the lock of a change on the row of a user, which makes changes serial: see LockedBy.
type lock struct {
	userID string
	writes bool
}

// writes locks a user whose credentials, status or attributes change.
func writes(userID string) lock { return lock{userID, true} }

// reads locks a user whose credentials, status or attributes must stay as they are.
func reads(userID string) lock { return lock{userID, false} }

// noLock is for a change that neither depends on a user's credentials, status and attributes nor changes those
// that exist.
func noLock() lock { return lock{} }

// LockedBy returns the user that a change locks, "" for none, and whether it writes the user's data.
func LockedBy(c Change) (userID string, writes bool) {
	l := c.change()
	return l.userID, l.writes
}

// CreateUser adds a user. Its identifying attributes must be free, else the
// whole commit fails with attribute_taken.
type CreateUser struct{ User User }

// SetPassword stores the hash of a user's new password, in PHC string format. It ends all other
// sessions of the user, with their tokens, and all other runs of the user; the session and the run
// that made the change continue.
//
// What the user added with the replaced password alone is marked: see AddedWithFormer. The store records
// an event for each: passkey.limited, or addition.marked. What the user has confirmed counts as added with
// the new password.
type SetPassword struct {
	UserID string
	// ID distinguishes this password from the user's earlier ones. It can be empty if no proof
	// refers to this password yet; the store then generates one.
	ID      string
	Hash    string
	At      time.Time
	AddedBy Provenance
	// Confirmed are the credentials with which the user signed in to set the password. They are not
	// marked, because their holder has just used them.
	Confirmed []Proof
}

// RemovePassword removes a user's password, and ends the user's runs and the sessions that started
// with the password. If there is none, it does nothing. Like SetPassword, it marks what the user added with
// the password alone.
type RemovePassword struct {
	UserID    string
	At        time.Time
	Confirmed []Proof
}

// Password is a user's password: its hash in PHC string format, its id, see SetPassword, and
// the sign-in that set it.
type Password struct {
	Hash, ID string
	AddedBy  Provenance
}

// RehashPassword replaces the hash of a password by a stronger one of the same password. If the
// stored hash is no longer the one that was verified, it changes nothing: the password may have
// changed.
type RehashPassword struct {
	UserID string
	// Verified is the hash that was verified.
	Verified string
	Hash     string
}

// CreateCredential adds a passkey. If any user has one with this id, the whole commit fails with
// credential_exists.
type CreateCredential struct{ Credential Credential }

// UseCredential records a verified assertion: WebAuthn Level 3 §7.2 step 26.
type UseCredential struct {
	ID          Bytes
	SignCount   uint32
	BackupState bool
	At          time.Time
	// MustGrow rejects the commit with passkey_verification_failed if the stored count has reached
	// SignCount in the meantime: two authenticators with one key may each send a count that is
	// higher than the count with which both were compared.
	MustGrow bool
}

// UseSession records that an application with an idle timeout has used a session.
type UseSession struct {
	SessionID, ApplicationID string
	At                       time.Time
}

// StartSession adds a session of a user, who must be active at the time. At is zero if the session
// begins with its proof: CreatedAt can be earlier, because a session is as old as what it proves.
type StartSession struct {
	Session Session
	At      time.Time
}

// Time returns when the session is started.
func (c StartSession) Time() time.Time {
	if c.At.IsZero() {
		return c.Session.CreatedAt
	}
	return c.At
}

// EndSession ends a session, all other sessions of its user in the same browser, and every token issued
// in them, and queues a LogoutDelivery for every client that got tokens and has a back-channel logout
// URI. A sign-in in a browser replaces its earlier session, whose refresh tokens stay valid: users
// cannot see that they have several. The end of the others is recorded like the other events of the
// commit. If the session no longer exists, it does nothing.
type EndSession struct {
	ID string
	At time.Time
}

// RevokeToken revokes one token, by its jti, until it expires.
type RevokeToken struct {
	ID        string
	ExpiresAt time.Time
}

// RevokeFamily revokes a family of refresh tokens, and the access tokens issued from it or from the
// authorization request with that id. The store keeps the revocation of the access tokens until the
// given time.
type RevokeFamily struct {
	ID    string
	Until time.Time
}

// RenameCredential gives a passkey of a user another name; credential_not_found if there
// is none.
type RenameCredential struct {
	UserID string
	ID     Bytes
	Name   string
}

// DeleteCredential removes a passkey of a user, and ends the sessions that started with it;
// credential_not_found if there is none.
type DeleteCredential struct {
	UserID string
	ID     Bytes
	At     time.Time
}

// RemoveCredentials removes passkeys of a user, and ends the user's other runs and sessions. If the
// user has a passkey that neither list names, the whole commit fails with authentication_superseded: it was
// added after the lists were made.
type RemoveCredentials struct {
	UserID string
	Keep   []Bytes
	Remove []CredentialRemoval
	At     time.Time
}

// CredentialRemoval is a passkey to remove. Event is recorded if the commit removes it, and not if the
// passkey was removed before.
type CredentialRemoval struct {
	ID    Bytes
	Event Event
}

// RecordEvent appends to the audit log.
type RecordEvent struct{ Event Event }

// UpdateUser changes attributes of a user: each of those given gets the value, nil removes one. Its
// unique attributes must be free, else the whole commit fails with
// attribute_taken.
type UpdateUser struct {
	UserID     string
	Attributes map[string]any
	At         time.Time
	// AddedBy is the sign-in of the change. It becomes the provenance of a new mail address.
	AddedBy Provenance
	// By is who changes the attributes: if another owns one of them, the whole commit fails with
	// attribute_owned.
	By Writer
}

func (CreateUser) change() lock          { return noLock() }
func (c SetPassword) change() lock       { return writes(c.UserID) }
func (c RemovePassword) change() lock    { return writes(c.UserID) }
func (RehashPassword) change() lock      { return noLock() }
func (CreateCredential) change() lock    { return noLock() }
func (UseCredential) change() lock       { return noLock() }
func (c StartSession) change() lock      { return reads(c.Session.UserID) }
func (UseSession) change() lock          { return noLock() }
func (EndSession) change() lock          { return noLock() }
func (RevokeToken) change() lock         { return noLock() }
func (RevokeFamily) change() lock        { return noLock() }
func (RenameCredential) change() lock    { return noLock() }
func (c DeleteCredential) change() lock  { return writes(c.UserID) }
func (c RemoveCredentials) change() lock { return writes(c.UserID) }
func (RecordEvent) change() lock         { return noLock() }
func (c UpdateUser) change() lock        { return writes(c.UserID) }
