package signins

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// DescribeState returns what the state of an account means for a sign-in. hasMethod states whether the
// user has a password, a passkey or a linked identity.
func DescribeState(u *schemas.User, hasMethod bool, now time.Time) []Sentence {
	var all []Sentence
	locked := map[string]string{"time": u.LockedUntil.UTC().Format(time.RFC3339)}
	if cmp.Or(u.Status, schemas.UserActive) != schemas.UserActive {
		all = append(all, Sentence{Text: isDisabled})
	}
	if u.IsLocked(now) {
		all = append(all, Sentence{isLocked, locked})
	}
	if len(all) == 0 {
		all = append(all, Sentence{Text: isActive})
	}
	if !u.LockedUntil.IsZero() && !u.IsLocked(now) {
		all = append(all, Sentence{wasLocked, locked})
	}
	if !hasMethod {
		all = append(all, Sentence{Text: hasNoMethod})
	}
	if email := u.Text("email"); email != "" && u.Identifier("email") == "" {
		all = append(all, Sentence{isUnverified, map[string]string{"email": email}})
	}
	return all
}

// newStep explains an event.
func newStep(e schemas.Event) Step {
	d := e.Detail
	s := Step{At: e.At, Action: e.Action, Flow: d["flow"], FlowID: d["flowId"], FlowVersion: d["flowVersion"], Node: d["node"]}
	s.Sentences = []Sentence{{Text: explain(e)}}
	switch code := cmp.Or(d["reason"], d["check"], d["error"]); {
	case code == "":
	case isCode(code):
		s.Code = code
	default: // the text of an error, such as that of an identity provider
		s.Sentences = append(s.Sentences, Sentence{reported, map[string]string{"reason": code}})
		s.Code = cmp.Or(d["check"], d["error"])
	}
	if message := d["message"]; message != "" { // to the user
		s.Sentences = append(s.Sentences, Sentence{reported, map[string]string{"reason": message}})
	}
	if end := d["end"]; end != "" {
		s.Sentences = append(s.Sentences, Sentence{Text: cmp.Or(reasonTexts()[end], runEnded)})
	}
	if n := d["repeated"]; n != "" {
		s.Sentences = append(s.Sentences, Sentence{repeatedOften, map[string]string{"n": n}})
	}
	return s
}

// explain returns the sentence about an event, or its action if the event has none.
func explain(e schemas.Event) string {
	text := cmp.Or(actionTexts()[e.Action], e.Action)
	reason := cmp.Or(e.Detail["reason"], e.Detail["error"])
	switch e.Action {
	case "user.signed_in":
		if e.Detail["bySession"] == "true" {
			return bySession
		}
	case "email_code.not_sent":
		return cmp.Or(notMailedTexts()[reason], text)
	case "identity.refused":
		return cmp.Or(reasonTexts()[schemas.FederationReasonPrefix+e.Detail["check"]], text)
	case "attempt.failed":
		if slices.Contains([]string{"email-otp", "email-change"}, e.Detail["kind"]) {
			return cmp.Or(wrongMailedTexts()[reason], reasonTexts()[reason], text)
		}
		return cmp.Or(reasonTexts()[reason], text)
	case "user.sign_in_refused", "user.sign_in_canceled", "consent.missing":
		return cmp.Or(reasonTexts()[reason], text)
	}
	return text
}

// isCode reports whether a text is a code rather than the text of an error.
func isCode(text string) bool {
	return strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_") == ""
}

// String returns the sentence with its values.
func (s Sentence) String() string {
	text := s.Text
	for _, name := range slices.Sorted(maps.Keys(s.Values)) {
		text = strings.ReplaceAll(text, "{"+name+"}", s.Values[name])
	}
	return text
}
