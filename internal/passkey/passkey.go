package passkey

import (
	"cmp"
	"context"
	"log/slog"
	"time"

	"github.com/postern-id/postern/schemas"
)

// DefaultTimeout is the default of Config.Timeout.
const DefaultTimeout = 5 * time.Minute

// Config is the common configuration of all ceremonies.
type Config struct {
	// Origins are the origins allowed in every ceremony, in the form of browsers:
	// scheme://host[:port]. Configuration key passkey.allowed_origins.
	Origins []string
	// RPID is the default relying party id; "" means the host of the first origin.
	RPID string
	// Related are the origins that can use RPID from other domains: WebAuthn Level 3 §5.11.
	// Configuration key passkey.related_origins.
	Related []string
	// RPName is the name that authenticators show; "" means Postern.
	RPName string
	// Policy applies when a ceremony is finished.
	Policy Policy
	// Timeout is how long a ceremony may take; 0 means DefaultTimeout.
	Timeout time.Duration
	// Now is the clock for the expiry of sessions; nil means time.Now. It must agree with the now
	// of the Finish functions.
	Now func() time.Time
	// Log receives warnings of ceremonies from origins that are not allowed: a phishing page or a
	// misconfiguration. Nil discards them.
	Log *slog.Logger
}

// Ceremonies begins and finishes ceremonies. It is immutable and safe for concurrent use.
type Ceremonies struct {
	config           Config // with defaults
	origins, related []origin
}

// New returns the ceremonies of a configuration whose values package config has checked. It reports
// all texts that are not origins, with the code passkey_configuration.
//
// A well-formed origin that cannot use passkeys (plain http, an IP address) is no error here, so
// that a server with other sign-in methods still starts; a ceremony that depends on it reports why
// it cannot work.
func New(c Config) (*Ceremonies, error) {
	origins, problems := parseOrigins(c.Origins, configuredOrigins)
	if len(c.Origins) == 0 {
		problems = append(problems, schemas.Problem{Path: configuredOrigins, Message: "expected at least one origin, such as https://login.example.com"})
	}
	related, more := parseOrigins(c.Related, relatedOrigins)
	if problems = append(problems, more...); len(problems) > 0 {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodePasskeyConfig, "the passkey configuration has %d mistake(s)", len(problems)).WithProblems(problems)
	}
	for _, o := range origins {
		c.RPID = cmp.Or(c.RPID, o.host)
	}
	c.RPName = cmp.Or(displayText(c.RPName, maxNameBytes), "Postern")
	c.Policy = c.Policy.withDefaults()
	c.Timeout = cmp.Or(c.Timeout, DefaultTimeout)
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	return &Ceremonies{c, origins, related}, nil
}

// User is the user of a new passkey. The user handle (§5.4.3) is the bytes of ID's text. The
// authenticator shows Name and DisplayName when the user chooses a passkey.
type User struct{ ID, Name, DisplayName string }

// FindCredential finds the stored passkey of any user by its id. It fails with
// schemas.CodeCredentialNotFound.
type FindCredential func(ctx context.Context, id schemas.Bytes) (*schemas.Credential, error)
