package schemas

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// message states what was expected, what was received, and how to fix it. It never shows the value
// itself, which may be a password, unless the schema lists the permitted values.
func (f fault) message() string {
	if f.onKey {
		return "the name " + quote(f.name) + " is not allowed here: " + f.expectation()
	}
	if f.keyword == "type" {
		return f.wrongType()
	}
	return f.expectation()
}

// wrongType returns the message about a wrong type. For YAML it adds that quotes make a string, and
// for an object an example, if the schema has one in x-expect.
func (f fault) wrongType() string {
	if words, ok := f.schema["x-expect"].(string); ok && f.want == "object" {
		return "expected " + words + ", got " + f.came()
	}
	var types []string
	text := false
	for _, t := range list(f.want) {
		types = append(types, typeWords(fmt.Sprint(t)))
		text = text || t == "string"
	}
	message := "expected " + OneOf(types) + ", got " + f.came()
	if f.value.shape == numberShape && slices.Contains(list(f.want), any("integer")) {
		return message + " with a fraction"
	}
	if text && (f.value.shape == numberShape || f.value.shape == booleanShape) {
		message += "; put it in quotes"
	}
	return message
}

// expectation returns the message about any keyword except "type".
func (f fault) expectation() string {
	switch f.keyword {
	case "enum", "const":
		return f.notListed()
	case "pattern", "format":
		return "expected " + f.form()
	case "not":
		return f.forbidden()
	case "uniqueItems":
		return "expected each item once, got two that are equal; remove one"
	case "requiredAny":
		return "expected " + f.alternatives()
	case "dependentRequired":
		return fmt.Sprintf("required member %q is missing: another member given here requires it", f.want)
	case "oneOf":
		return "it matches two forms at once; remove the members of one of them"
	case "contains", "minContains":
		return "expected a list with an item of another form" + f.wanted()
	case "maxContains":
		return "expected a list with fewer items of the same form" + f.wanted()
	case "properties", "items", "unevaluatedItems", "patternProperties", "propertyNames":
		return "nothing is allowed here; remove it"
	}
	if limit, ok := limits()[f.keyword]; ok {
		return f.outOfLimits(limit.bound, limit.unit)
	}
	return f.text
}

// notListed returns the message about a failed enum or const.
func (f fault) notListed() string {
	want := []any{f.want}
	if f.keyword == "enum" {
		want = list(f.want)
	}
	var shown, words []string
	for _, v := range want {
		text, err := json.Marshal(v)
		if err != nil {
			continue
		}
		shown = append(shown, string(text))
		if word, ok := v.(string); ok {
			words = append(words, word)
		}
	}
	message := "expected " + OneOf(shown)
	if f.onKey || f.value.shape != stringShape {
		return message + ", got " + f.came()
	}
	message += ", got " + quote(f.value.text)
	if len(words) > 1 {
		message += Hint(f.value.text, words)
	}
	return message
}

// came returns the kind of the received value, or the value if it is true, false or null.
func (f fault) came() string {
	switch f.value.shape {
	case booleanShape, nullShape:
		return f.value.text
	}
	return f.value.shape.words()
}

// form returns the meaning of a pattern or format, in words.
func (f fault) form() string {
	if words, ok := f.schema["x-expect"].(string); ok {
		return words
	}
	if f.keyword == "pattern" {
		return fmt.Sprintf("text that matches %v", f.want)
	}
	switch f.want {
	case "date-time":
		return "a time such as 2026-01-31T12:00:00Z (RFC 3339)"
	case "date":
		return "a date such as 2026-01-31"
	case "email", "idn-email":
		return "an e-mail address"
	case "uri":
		return "an absolute URL such as https://example.com/"
	case "uuid":
		return "a UUID"
	}
	return fmt.Sprintf("a valid %v", f.want)
}

// forbidden returns the message about a failed "not".
func (f fault) forbidden() string {
	banned, _ := f.want.(map[string]any)
	if words, ok := banned["x-expect"].(string); ok {
		return "expected " + words
	}
	if value, ok := banned["const"]; ok {
		text, _ := json.Marshal(value) // it was JSON before
		return "it must not be " + string(text)
	}
	return "this is not allowed here"
}

// wanted adds the schema's description of the items of a list, if there is one.
func (f fault) wanted() string {
	item, _ := f.schema["contains"].(map[string]any)
	if words, ok := item["x-expect"].(string); ok {
		return ": " + words
	}
	if value, ok := item["const"]; ok {
		text, _ := json.Marshal(value) // it was JSON before
		return ": " + string(text)
	}
	return ""
}

// alternatives describes an anyOf in which each branch lacks some member.
func (f fault) alternatives() string {
	var ways []string
	for _, want := range list(f.want) {
		var members []string
		for _, name := range list(want) {
			members = append(members, quote(fmt.Sprint(name)))
		}
		ways = append(ways, strings.Join(members, " with "))
	}
	return OneOf(ways)
}

// OneOf joins alternatives: "a, b or c".
func OneOf(alternatives []string) string {
	var words []string
	for _, word := range alternatives {
		if !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// limits are the keywords that limit a number or a length, with its unit.
func limits() map[string]struct{ bound, unit string } {
	return map[string]struct{ bound, unit string }{
		"minLength":        {"at least", "character"},
		"maxLength":        {"at most", "character"},
		"minItems":         {"at least", "item"},
		"maxItems":         {"at most", "item"},
		"minProperties":    {"at least", "member"},
		"maxProperties":    {"at most", "member"},
		"minimum":          {"at least", ""},
		"maximum":          {"at most", ""},
		"exclusiveMinimum": {"more than", ""},
		"exclusiveMaximum": {"less than", ""},
		"multipleOf":       {"a multiple of", ""},
	}
}

// outOfLimits returns the message about a number or a length outside its limits.
func (f fault) outOfLimits(bound, unit string) string {
	message := fmt.Sprintf("expected %s %v", bound, f.want)
	got := 0
	switch unit {
	case "":
		return message + ", got " + f.value.text
	case "character":
		text := f.value.text
		if f.onKey {
			text = f.name
		}
		got = utf8.RuneCountInString(text)
	case "item":
		got = len(f.value.items)
	case "member":
		got = len(f.value.members())
	}
	if fmt.Sprint(f.want) != "1" {
		unit += "s"
	}
	return fmt.Sprintf("%s %s, got %d", message, unit, got)
}
