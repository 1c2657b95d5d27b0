package schemas

import "time"

// Application is something people sign in to. What OAuth needs of it
// (inboundAuthConfig) comes with the authorization server.
type Application struct {
	ID                        string         `json:"id"`
	Name                      string         `json:"name"`
	Description               string         `json:"description,omitempty"`
	OUID                      string         `json:"ouId,omitempty"`
	URL                       string         `json:"url,omitempty"`
	LogoURL                   string         `json:"logoUrl,omitempty"`
	TosURI                    string         `json:"tosUri,omitempty"`
	PolicyURI                 string         `json:"policyUri,omitempty"`
	AuthFlowID                string         `json:"authFlowId"`
	RegistrationFlowID        string         `json:"registrationFlowId,omitempty"`
	IsRegistrationFlowEnabled bool           `json:"isRegistrationFlowEnabled"`
	AllowedUserTypes          []string       `json:"allowedUserTypes,omitempty"`
	PasskeyAllowedOrigins     []string       `json:"passkeyAllowedOrigins,omitempty"`
	Assertion                 AssertionRules `json:"assertion,omitzero"`
	Customizations            map[string]any `json:"customizations,omitempty"`
	ClientID                  string         `json:"clientId,omitempty"`
	CreatedAt                 time.Time      `json:"createdAt"`
	UpdatedAt                 time.Time      `json:"updatedAt"`
}

// AssertionRules say how long an application's assertions are good for, in
// seconds (0: the server's default), and which user attributes they carry
// (nil: the profile attributes the user has).
type AssertionRules struct {
	ValidityPeriod int      `json:"validityPeriod,omitempty"`
	UserAttributes []string `json:"userAttributes,omitempty"`
}

// Assertion is what a completed authentication says about a user, before it is
// signed as a JWT. Times are UTC; Validity 0 means the issuer's default.
type Assertion struct {
	Subject     string
	Audience    []string
	AuthTime    time.Time
	AMR         []string // RFC 8176
	ACR         string
	Permissions []string // become the scope claim
	UserType    string
	OUID        string
	Profile     map[string]any // username, email, given_name …
	Validity    time.Duration
}
