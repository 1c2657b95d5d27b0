package schemas

import "time"

// Purposes of links.
const (
	LockLink       = "lock"       // locks the account of its user
	InvitationLink = "invitation" // lets its user, who has no credential yet, add one
	EnrolmentLink  = "enrolment"  // lets its user add one passkey, which can replace the others
)

// CodeInvalidLink is the error code of a link that is not or no longer valid. Its class is Invalid.
const CodeInvalidLink = "invalid_link"

// Link is a link in a mail, or one that the operator prints. Its token authorizes what its purpose
// names: once for a LockLink and an EnrolmentLink, until the user has a credential for an
// InvitationLink.
type Link struct {
	TokenHash []byte // HashSecret of the token
	UserID    string
	Purpose   string
	// Subject is the action of an event for a LockLink, and the id of an application for the
	// others.
	Subject   string
	CreatedAt time.Time
	ExpiresAt time.Time
	// RunID is the run that has accepted an invitation or an enrolment link, "" for none. The next run
	// that accepts it replaces that run.
	RunID string
}

// Proof returns the proof that a run has accepted an invitation or an enrolment link.
func (l *Link) Proof() Proof {
	kind := InvitationProof
	if l.Purpose == EnrolmentLink {
		kind = EnrolmentProof
	}
	return Proof{Kind: kind, Of: Bytes(l.TokenHash).String()}
}

// CreateLink stores a link. An InvitationLink and an EnrolmentLink replace the earlier one of their
// user.
type CreateLink struct{ Link Link }

func (CreateLink) change() lock { return noLock() }

// AcceptInvitation assigns an invitation or an enrolment link to a run. The change requires that the
// link is valid at the time and, for an invitation, that its user has no credential: otherwise nothing
// is committed, and the code is CodeInvalidLink, Class Conflict.
type AcceptInvitation struct {
	TokenHash []byte
	UserID    string
	RunID     string
	At        time.Time
}

func (c AcceptInvitation) change() lock { return writes(c.UserID) }

// UseEnrolment uses an enrolment link up. The change requires that the run has accepted it and that it
// was not used: otherwise the code is CodeInvalidLink, Class Conflict.
type UseEnrolment struct {
	Proof  Proof
	UserID string
	RunID  string
	At     time.Time
}

func (c UseEnrolment) change() lock { return writes(c.UserID) }
