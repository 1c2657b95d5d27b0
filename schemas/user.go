package schemas

import "time"

// User is an account. Attributes follow the user's type and never contain credentials (a password).
type User struct {
	ID         string         `json:"id"`
	Type       string         `json:"type"`
	OUID       string         `json:"ouId"`
	Attributes map[string]any `json:"attributes"`
	// Status is UserActive or UserDisabled; "" is UserActive.
	Status string `json:"status,omitempty"`
	// LockedUntil is when the user may sign in again; zero, or a time in the past, if the
	// user is not locked.
	LockedUntil time.Time `json:"lockedUntil,omitzero"`
	// IdentifierScope is that of the user's type, which a read user has: see UserType.
	IdentifierScope string `json:"-"`
	// AddedWithFormerPassword is what former passwords alone have added, in the reply to a change of the
	// password only.
	AddedWithFormerPassword []Addition `json:"addedWithFormerPassword,omitempty"`
	CreatedAt               time.Time  `json:"createdAt"`
	UpdatedAt               time.Time  `json:"updatedAt"`
}

// Text returns the attribute if it is a string, else "".
func (u *User) Text(attribute string) string {
	s, _ := u.Attributes[attribute].(string)
	return s
}

// IdentifyingAttributes are the attributes that identify a user: see User.Identifier. Within an
// identifier scope a value identifies at most one user, whatever its attribute.
func IdentifyingAttributes() []string { return []string{"username", "email"} }

// Credential is a passkey: the credential record of WebAuthn Level 3 §4. ID
// and PublicKey (COSE_Key, RFC 9052) are raw bytes, base64url in JSON.
type Credential struct {
	ID                Bytes  `json:"id"`
	UserID            string `json:"userId"`
	Name              string `json:"name"`
	RPID              string `json:"relyingPartyId"`
	PublicKey         Bytes  `json:"publicKey"`
	Algorithm         int64  `json:"algorithm"` // COSE algorithm identifier
	AttestationFormat string `json:"attestationFormat"`
	// Attested states that at registration the attestation of the passkey chained to a trust anchor
	// of the operator.
	Attested       bool       `json:"attested,omitempty"`
	AAGUID         string     `json:"aaguid"` // UUID text; all zeros if unknown
	Attachment     string     `json:"attachment,omitempty"`
	Transports     []string   `json:"transports,omitempty"`
	SignCount      uint32     `json:"signCount"`
	UserVerified   bool       `json:"userVerified"` // uvInitialized
	BackupEligible bool       `json:"backupEligible"`
	BackupState    bool       `json:"backupState"`
	CreatedAt      time.Time  `json:"createdAt"`
	LastUsedAt     *time.Time `json:"lastUsedAt,omitempty"`
	// AddedBy is the sign-in that added the passkey to an existing account.
	AddedBy Provenance `json:"addedBy,omitzero"`
}
