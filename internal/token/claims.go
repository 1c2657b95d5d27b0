package token

import (
	"time"

	"github.com/postern-id/postern/schemas"
)

// Claims are the content of a token: of a verified one, or of one to issue. Subject and, except for
// assertions, ClientID are required.
type Claims struct {
	// Subject is a user's id. For a client that acts on its own behalf it is the ClientID
	// (RFC 9068 §2.2).
	Subject string `json:"sub"`
	// ID is the jti; "" generates one. Tokens that are revoked together have ids with the
	// same prefix up to a dot.
	ID string `json:"jti,omitempty"`
	// ClientID is the client that the token is issued to, "" for an assertion. It is the only
	// audience of an ID token or logout token, which so needs no azp (OpenID Connect Core §2).
	ClientID    string    `json:"client_id,omitempty"`
	Session     string    `json:"sid,omitempty"`
	Generation  string    `json:"tgen,omitempty"` // the TokenGeneration of the application that it is issued to
	Audience    []string  `json:"-"`
	Scope       []string  `json:"-"`
	AuthTime    time.Time `json:"-"` // when the user authenticated; zero without a user
	AMR         []string  `json:"amr,omitempty"`
	ACR         string    `json:"acr,omitempty"`
	UserType    string    `json:"userType,omitempty"`
	OUID        string    `json:"ouId,omitempty"`
	Nonce       string    `json:"nonce,omitempty"`  // of an ID token
	AuthRequest string    `json:"authId,omitempty"` // that an assertion answers
	// Requested are the claims that the client requested at userinfo, in an access token.
	Requested map[string]*schemas.ClaimRequest `json:"claims_request,omitempty"`

	// Type, IssuedAt and Expires are those of a verified token. Application is that of an
	// assertion; "" for none, and for an access token.
	Type        string    `json:"-"` // AssertionType or AccessType
	IssuedAt    time.Time `json:"-"`
	Expires     time.Time `json:"-"`
	Application string    `json:"-"`

	// Validity is that of a token to issue; 0 means the issuer's default.
	Validity time.Duration `json:"-"`
	// Algorithm of an ID token or logout token is ES256 or RS256; "" is RS256.
	Algorithm string `json:"-"`
	// Profile are the attributes of the user in an assertion. Attributes named like reserved claims are left
	// out.
	Profile map[string]any `json:"-"`
	// Declared are claims about the user that the application declares, or that a scope releases. Only the
	// names of the protocols are left out.
	Declared map[string]any `json:"-"`
	// Distributed are claims about the user that another document has; nil for none.
	Distributed *Distributed `json:"-"`
	// AccessToken and Code are issued with an ID token, "" for none: at_hash (OpenID Connect
	// Core §3.1.3.6) and c_hash (§3.3.2.11) bind them to it.
	AccessToken string `json:"-"`
	Code        string `json:"-"`
}

// Distributed are claims that are read at an endpoint with an access token: OpenID Connect Core §5.6.2.
type Distributed struct {
	Names                 []string
	Endpoint, AccessToken string
}

// Ref returns the attributes that a revocation of the token matches.
func (c *Claims) Ref() schemas.TokenRef {
	return schemas.TokenRef{ID: c.ID, Session: c.Session, Client: c.ClientID, Application: c.Application, Generation: c.Generation}
}
