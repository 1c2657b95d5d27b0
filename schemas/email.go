package schemas

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v5"
)

// Limits of an e-mail address, in bytes: RFC 5321 §4.5.3.1 with erratum 1690, and
// RFC 1035 §2.3.4 for the labels of the domain.
const (
	maxEmail = 254
	maxLocal = 64
	maxLabel = 63
)

// IsEmail reports whether a text is an e-mail address that an account may have: a dot-atom, @ and a
// domain name (RFC 5321 §4.1.2), with letters of any script (RFC 6531 §3.3). Other forms that mail
// allows are rejected: quoted local parts and comments, which disguise an address; address literals
// such as a@[127.0.0.1], which can name internal machines; and surrounding spaces.
func IsEmail(s string) bool {
	local, domain, found := strings.Cut(s, "@")
	return found && utf8.ValidString(s) && len(s) <= maxEmail && len(local) <= maxLocal &&
		isDotted(local, isAtom) && isDotted(domain, isLabel) && !endsInNumber(domain) && !strings.ContainsFunc(s, isInvisible)
}

// endsInNumber reports whether the last label of a domain is a number, as that of an IP
// address is and no top-level domain (RFC 3696 §2).
func endsInNumber(domain string) bool {
	last := domain[strings.LastIndexByte(domain, '.')+1:]
	return strings.Trim(last, "0123456789") == ""
}

// isDotted reports whether each part between the dots of a text passes the check.
func isDotted(s string, wanted func(part string) bool) bool {
	for part := range strings.SplitSeq(s, ".") {
		if !wanted(part) {
			return false
		}
	}
	return true
}

// isAtom is RFC 5322 §3.2.3, extended by RFC 6531 §3.3.
func isAtom(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c < utf8.RuneSelf && !isAlphanumeric(c) && !strings.ContainsRune("!#$%&'*+-/=?^_`{|}~", c) || unicode.IsSpace(c)
	})
}

// isLabel is RFC 1123 §2.1, extended by RFC 5890 §2.3.2.1.
func isLabel(s string) bool {
	hyphens := strings.HasPrefix(s, "-") || strings.HasSuffix(s, "-")
	strange := strings.ContainsFunc(s, func(c rune) bool {
		return c != '-' && (c < utf8.RuneSelf && !isAlphanumeric(c) || !unicode.In(c, unicode.Letter, unicode.Mark, unicode.Digit))
	})
	return s != "" && len(s) <= maxLabel && !hyphens && !strange
}

func isAlphanumeric(c rune) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9'
}

// emailFormat makes the validator check the formats email and idn-email with IsEmail. The
// validator's own check accepts address literals and quoted local parts for email, and does not
// exist for idn-email.
type emailFormat struct{}

// Compile returns the check of a schema that has one of the formats.
func (emailFormat) Compile(_ jsonschema.CompilerContext, m map[string]any) (jsonschema.ExtSchema, error) {
	if format := m["format"]; format != "email" && format != "idn-email" {
		return nil, nil
	}
	return emailFormat{}, nil
}

// Validate checks a value. A value that is not a string has no format.
func (emailFormat) Validate(ctx jsonschema.ValidationContext, v any) error {
	if s, ok := v.(string); ok && !IsEmail(s) {
		return ctx.Error("format", "%q is not an e-mail address", truncate(s, maxCauseLength))
	}
	return nil
}
