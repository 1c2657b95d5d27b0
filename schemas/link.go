package schemas

import "time"

// LockLink is the purpose of a link that locks the account of its user.
const LockLink = "lock"

// Link is a link in a mail that works once. Its token authorizes what its purpose names.
type Link struct {
	TokenHash []byte // HashSecret of the token
	UserID    string
	Purpose   string
	// Subject is what the mail is about. For a LockLink it is the action of an event.
	Subject   string
	CreatedAt time.Time
	ExpiresAt time.Time
}

// CreateLink stores a link.
type CreateLink struct{ Link Link }

func (CreateLink) change() {}
