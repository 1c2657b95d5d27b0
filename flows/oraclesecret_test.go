package flows_test

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The author of a flow may be the adversary, too. What users type where the page or the browser
// asks for a password or a code is secret: a node that stores, compares or sends it reveals it
// to the author of the flow.

// namesSecret reports whether the identifier of an input is the name of a secret.
var namesSecret = regexp.MustCompile(`(?i)pass[._-]*(word|wd|phrase|code)|(recovery|backup|one[._-]*time|verification)[._-]*code|t[._-]*otp|^[._-]*(pwd|pin|otp|mfa[._-]*code)[._-]*$`)

// asksSecret reports whether browsers fill in the input with a secret.
var asksSecret = regexp.MustCompile(`(?i)(^|\s)(current-password|new-password|one-time-code)(\s|$)`)

// noteSecrets records the inputs of a prompt that users type a secret into.
func (o *oracle) noteSecrets(c config) {
	for _, in := range c.Inputs {
		if in.Type == "PASSWORD_INPUT" || in.Type == "OTP_INPUT" || asksSecret.MatchString(in.Autocomplete) || namesSecret.MatchString(in.Identifier) {
			o.secrets[in.Identifier] = true
		}
	}
}

// readSecrets finds secrets that the node reads.
func (o *oracle) readSecrets(m situation) {
	c, reads := o.with[m.node], []string(nil)
	switch o.flow.Nodes[m.node].Use {
	case "user-create":
		reads = slices.Collect(maps.Values(c.sources()))
	case "user-resolve":
		reads = []string{c.From}
	case "http-request":
		reads = c.reveals()
	case "decision":
		for _, one := range c.Cases {
			for _, found := range readsInput.FindAllStringSubmatch(one.When, -1) {
				reads = append(reads, found[1])
			}
		}
	}
	stolen := slices.DeleteFunc(reads, func(input string) bool { return !o.secrets[input] })
	if len(stolen) > 0 {
		o.verdict.dangerous = "what users type as a secret into " + strings.Join(stolen, ", ")
	}
}
