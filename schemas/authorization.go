package schemas

import "time"

// AuthRequest is an authorization request (OpenID Connect Core §3.1.2.1) from
// when it was accepted until its code has been redeemed or it has expired.
type AuthRequest struct {
	ID            string
	ApplicationID string
	ClientID      string
	RedirectURI   string
	ResponseMode  string // "query" or "form_post"
	State, Nonce  string
	Scopes        []string
	Resources     []string // RFC 8707
	CodeChallenge string   // RFC 7636, S256; "" for none
	LoginHint     string
	// Login is what the client asks of the sign-in.
	Login LoginRules
	// BrowserHash is the SHA-256 of the cookie that binds the request to the
	// browser it came from: nobody else can finish it.
	BrowserHash []byte
	// Grant is what the request was granted; nil until then.
	Grant *Grant

	CreatedAt, ExpiresAt time.Time
}

// LoginRules are what an authorization request asks of a sign-in: OpenID Connect
// Core §3.1.2.1. MaxAge is in seconds, nil when not told.
type LoginRules struct {
	Prompt    []string `json:"prompt,omitempty"`
	MaxAge    *int     `json:"maxAge,omitempty"`
	ACRValues []string `json:"acrValues,omitempty"`
}

// Grant is who signed in for an authorization request, and how.
type Grant struct {
	UserID    string    `json:"userId"`
	SessionID string    `json:"sessionId"`
	AuthTime  time.Time `json:"authTime"`
	AMR       []string  `json:"amr"`
	ACR       string    `json:"acr,omitempty"`
}

// GrantAuthRequest grants an authorization request, in the transaction that ends
// the run it belongs to. One that is gone, expired or granted already makes the
// whole commit fail with auth_request_not_found, Class Invalid.
type GrantAuthRequest struct {
	ID    string
	Grant Grant
	At    time.Time
}

func (GrantAuthRequest) change() {}
