package schemas

import "time"

// Purposes of links.
const (
	LockLink       = "lock"       // locks the account of its user
	InvitationLink = "invitation" // lets its user, who has no credential yet, add one
)

// CodeInvalidLink is the error code of a link that is not or no longer valid. Its class is Invalid.
const CodeInvalidLink = "invalid_link"

// Link is a link in a mail. Its token authorizes what its purpose names: once for a LockLink, until
// the user has a credential for an InvitationLink.
type Link struct {
	TokenHash []byte // HashSecret of the token
	UserID    string
	Purpose   string
	// Subject is the action of an event for a LockLink, and the id of an application for an
	// InvitationLink.
	Subject   string
	CreatedAt time.Time
	ExpiresAt time.Time
	// RunID is the run that has accepted an invitation, "" for none. The next run that accepts it
	// replaces that run.
	RunID string
}

// Proof returns the proof that a run has accepted the invitation.
func (l *Link) Proof() Proof { return Proof{Kind: InvitationProof, Of: Bytes(l.TokenHash).String()} }

// CreateLink stores a link. An InvitationLink replaces the earlier one of its user.
type CreateLink struct{ Link Link }

func (CreateLink) change() {}

// AcceptInvitation assigns an invitation to a run. The change requires that the invitation is valid
// at the time and that its user has no credential: otherwise nothing is committed, and the code is
// CodeInvalidLink, Class Conflict.
type AcceptInvitation struct {
	TokenHash []byte
	UserID    string
	RunID     string
	At        time.Time
}

func (AcceptInvitation) change() {}
