package nodes

import (
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/expr"
	"github.com/postern-id/postern/schemas"
)

// defaultMaxLength is the maximum length, in characters, of an input without a limit.
const defaultMaxLength = 1024

// maxInputPattern limits the size of the pattern of an input, as maxRegexProgram does in expressions.
const maxInputPattern = 10_000

// field is an input of a form with the rules for its value.
type field struct {
	Identifier   string            `json:"identifier" is:"identifier" doc:"The name under which the value is sent and stored; unique in the form."`
	Type         schemas.InputType `json:"type" enum:"TEXT_INPUT,EMAIL_INPUT,PASSWORD_INPUT,OTP_INPUT,PHONE_INPUT,NUMBER_INPUT,DATE_INPUT,SELECT,HIDDEN" doc:"The type of the input. PASSWORD_INPUT and OTP_INPUT are secret: their values are used only in the step that submits them, by the node that verifies or sets them, and are never stored."`
	Label        string            `json:"label,omitempty" doc:"The label of the input. Default: the identifier."`
	Placeholder  string            `json:"placeholder,omitempty" doc:"A hint inside the empty input."`
	Required     bool              `json:"required,omitempty" default:"false" doc:"Whether an action that submits the input needs a value. Default: false."`
	Autocomplete string            `json:"autocomplete,omitempty" doc:"The HTML autocomplete tokens, such as 'username webauthn'. With current-password or new-password the input is a PASSWORD_INPUT, with one-time-code an OTP_INPUT, whatever its type. The same holds for an identifier that names a secret, such as password or otp."`
	Options      []string          `json:"options,omitempty" min:"1" unique:"true" doc:"The options of a SELECT." item.min:"1" item.doc:"An option."`
	Pattern      string            `json:"pattern,omitempty" doc:"A regular expression (RE2 syntax) that the whole value must match."`
	MinLength    int               `json:"minLength,omitempty" min:"0" doc:"The minimum number of characters."`
	MaxLength    int               `json:"maxLength,omitempty" min:"1" max:"4096" default:"1024" doc:"The maximum number of characters. Default: 1024."`

	pattern *regexp.Regexp
}

// secretType returns the type of the secret that browsers fill in for the autocomplete tokens, ""
// for none. The tokens are separated by blanks and compared without case (HTML Living Standard,
// section 4.10.18.7.1).
func secretType(autocomplete string) schemas.InputType {
	for token := range strings.FieldsSeq(autocomplete) {
		switch strings.ToLower(token) {
		case "current-password", "new-password":
			return schemas.PasswordInput
		case "one-time-code":
			return schemas.OTPInput
		}
	}
	return ""
}

// namedSecret returns the type of the secret that an identifier names, "" for none. Letter case, dots,
// dashes and underscores do not matter.
func namedSecret(identifier string) schemas.InputType {
	name := strings.NewReplacer(".", "", "-", "", "_", "").Replace(strings.ToLower(identifier))
	has := func(part string) bool { return strings.Contains(name, part) }
	switch {
	case slices.ContainsFunc([]string{"password", "passwd", "passphrase", "passcode", "recoverycode", "backupcode"}, has), name == "pwd", name == "pin":
		return schemas.PasswordInput
	case slices.ContainsFunc([]string{"onetimecode", "verificationcode", "totp"}, has), name == "otp", name == "mfacode":
		return schemas.OTPInput
	}
	return ""
}

// guardSecret makes an input secret if browsers fill in a secret or its name is that of one, whatever
// type it declares: a password must not be stored or readable because it was declared as text. In a
// stored flow the name does not count.
func (f *field) guardSecret(stored bool) (found []schemas.Problem) {
	path, what, secret := "autocomplete", fmt.Sprintf("%q requests a secret from the browser", f.Autocomplete), secretType(f.Autocomplete)
	if secret == "" && !stored {
		path, what, secret = "identifier", fmt.Sprintf("%q is the name of a secret", f.Identifier), namedSecret(f.Identifier)
	}
	switch {
	case secret == "" || f.Type.Secret():
	case f.Type == schemas.SelectInput, f.Type == schemas.HiddenInput:
		p := problem(path, "%s, which a %s does not accept; use the type %s", what, f.Type, secret)
		p.Rule = engine.RuleSecret
		found = append(found, p)
	default:
		f.Type = secret
	}
	return found
}

// compile prepares the field and returns the faults of its declaration, with paths relative to it. The
// pattern of a stored flow can be larger than those of today.
func (f *field) compile(stored bool) []schemas.Problem {
	found := f.guardSecret(stored)
	if f.Type == schemas.SelectInput && len(f.Options) == 0 {
		found = append(found, problem("options", "a SELECT needs options"))
	}
	if f.Type != schemas.SelectInput && len(f.Options) > 0 {
		found = append(found, problem("options", "only a SELECT has options; this input is a %s", f.Type))
	}
	if f.MinLength > f.maxLength() {
		found = append(found, problem("minLength", "%d is more than the maxLength of %d", f.MinLength, f.maxLength()))
	}
	if f.Pattern == "" {
		return found
	}
	if err := checkInputPattern(f.Pattern); err != nil && !stored {
		return append(found, problem("pattern", "%v", err))
	}
	// As in HTML, a pattern describes the whole value.
	re, err := regexp.Compile(`^(?:` + f.Pattern + `)$`)
	if err != nil {
		return append(found, problem("pattern", "not a regular expression (RE2 syntax): %v", err))
	}
	f.pattern = re
	return found
}

// checkInputPattern returns an error for a pattern that is too large.
func checkInputPattern(pattern string) error {
	if err := schemas.CheckPatternText(pattern); err != nil {
		return err
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err == nil && (expr.RangesOf(parsed) > expr.MaxRanges || expr.SizeOf(parsed) > maxInputPattern) {
		return errors.New("the regular expression repeats too much; use minLength and maxLength for the length")
	}
	return nil // compile reports what is no pattern
}

func (f *field) maxLength() int {
	if f.MaxLength > 0 {
		return f.MaxLength
	}
	return defaultMaxLength
}

// accept returns the value to store, "" for none, and a message for the user about what is wrong
// with it, "" for nothing.
func (f *field) accept(value string) (clean, fault string) {
	if !f.Type.Secret() && f.Type != schemas.HiddenInput {
		value = strings.TrimSpace(value)
	}
	if value == "" {
		if f.Required {
			return "", "This is required."
		}
		return "", ""
	}
	if fault := f.faultOfText(value); fault != "" {
		return "", fault
	}
	return f.acceptType(value)
}

func (f *field) faultOfText(value string) string {
	length := utf8.RuneCountInString(value)
	switch {
	case !utf8.ValidString(value):
		return "This is not valid text."
	case f.Type != schemas.HiddenInput && !f.Type.Secret() && strings.ContainsFunc(value, isInvisible):
		return "Invisible characters are not allowed."
	case f.Type != schemas.HiddenInput && strings.ContainsFunc(value, unicode.IsControl):
		// Line breaks forge log lines and mail headers.
		return "Control characters, such as line breaks, are not allowed."
	case length < f.MinLength:
		return fmt.Sprintf("Enter at least %d characters.", f.MinLength)
	case length > f.maxLength():
		return fmt.Sprintf("Enter at most %d characters.", f.maxLength())
	case f.pattern != nil && !f.pattern.MatchString(value):
		return "Use the expected format."
	}
	return ""
}

// isInvisible reports whether a character is invisible and can make one name look like another.
// Joiners are not included: some scripts need them.
func isInvisible(r rune) bool {
	const zwnj, zwj = '\u200c', '\u200d'
	return unicode.Is(unicode.Cf, r) && r != zwnj && r != zwj
}

var (
	numberForm = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	phoneForm  = regexp.MustCompile(`^\+?[0-9]{7,15}$`) // ITU-T E.164 allows at most 15 digits
	phoneFill  = strings.NewReplacer(" ", "", "-", "", ".", "", "(", "", ")", "")
)

// typeRule describes the values of an input type.
type typeRule struct {
	accepts func(string) bool
	message string
}

func (f *field) acceptType(value string) (clean, fault string) {
	rules := map[schemas.InputType]typeRule{
		schemas.EmailInput:  {schemas.IsEmail, "Enter an email address, such as name@example.com."},
		schemas.PhoneInput:  {phoneForm.MatchString, "Enter a phone number with its country code, such as +49 30 1234567."},
		schemas.NumberInput: {numberForm.MatchString, "Enter a number, such as 12 or -3.5."},
		schemas.DateInput:   {isDate, "Enter a date as year-month-day, such as 1990-12-31."},
		schemas.SelectInput: {func(value string) bool { return slices.Contains(f.Options, value) }, "Choose one of the options."},
	}
	if f.Type == schemas.PhoneInput {
		value = phoneFill.Replace(value)
	}
	if rule, is := rules[f.Type]; is && !rule.accepts(value) {
		return "", rule.message
	}
	return value, ""
}

func isDate(value string) bool {
	_, err := time.Parse(time.DateOnly, value)
	return err == nil
}
