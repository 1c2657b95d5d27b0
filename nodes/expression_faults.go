package nodes

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"cel.dev/cel-go/common"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// The library of CEL describes faults in the terms of its grammar. Authors know other languages, and do not
// know what an expression can read here. So each known message becomes what is wrong, what is there,
// and what to write.

// faultyText is an expression with a fault at a place.
type faultyText struct {
	config *engine.Config
	text   string
	before string // the text before the fault
	rest   string // the text from the fault on
	shift  int    // from the reported column to the faulty name
}

// explainIssues converts the issues of an expression that does not compile. After an error of syntax the rest
// cannot be understood.
func explainIssues(c *engine.Config, text string, issues []*common.Error) (faults []fault) {
	for _, issue := range issues {
		f := fault{at: issue.Location}
		runes := []rune(text)
		n := min(max(f.within(text)-1, 0), len(runes))
		t := &faultyText{config: c, text: text, before: string(runes[:n]), rest: string(runes[n:])}
		f.message = t.explain(issue.Message)
		if t.shift != 0 {
			f.at = common.NewLocation(f.at.Line(), f.at.Column()+t.shift)
		}
		faults = append(faults, f)
		if strings.HasPrefix(issue.Message, syntaxFault) {
			break
		}
	}
	return faults
}

const (
	syntaxFault = "Syntax error: "
	noIf        = "there is no if; write condition ? value : other value"
)

var (
	undefinedField = regexp.MustCompile(`^undefined field '([^']+)'`)
	undeclaredName = regexp.MustCompile(`^undeclared reference to '([^']+)'`)
	noOverload     = regexp.MustCompile(`^found no matching overload for '([^']+)' applied to '(.*)'`)
	noMembers      = regexp.MustCompile(`^type '([^']+)' does not support field selection`)
	lastWord       = regexp.MustCompile(`([A-Za-z_][A-Za-z0-9_]*)\s*$`)
	firstToken     = regexp.MustCompile(`^(?:[A-Za-z_][A-Za-z0-9_]*|[=!<>&|]+|.)`)
)

// explain returns what a message of the library means for authors.
func (t *faultyText) explain(message string) string {
	if m := undefinedField.FindStringSubmatch(message); m != nil {
		return t.undefinedMember(m[1])
	}
	if m := undeclaredName.FindStringSubmatch(message); m != nil {
		return t.undeclared(m[1])
	}
	if m := noOverload.FindStringSubmatch(message); m != nil {
		return mismatch(m[1], m[2])
	}
	if m := noMembers.FindStringSubmatch(message); m != nil {
		return fmt.Sprintf("a value of the type %s has no members; size(x) is its length, and x.contains(y), y in x and x.exists(i, i == y) search it", m[1])
	}
	if word, is := strings.CutPrefix(message, "reserved identifier: "); is {
		if slices.Contains([]string{"if", "else"}, word) {
			return noIf
		}
		return fmt.Sprintf("%s is a reserved word, and no name", word)
	}
	if strings.Contains(message, "has() macro") {
		return "has() takes a member, such as has(user.attributes.email) or has(inputs.email)"
	}
	if rest, is := strings.CutPrefix(message, syntaxFault); is {
		return t.syntax(rest)
	}
	return message
}

// members returns the names of the members of a variable.
func members(variable string) (names []string) {
	for _, n := range ExpressionNames() {
		if of, name, _ := strings.Cut(n.Name, "."); of == variable && !strings.Contains(name, "(") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// undefinedMember describes a member that a variable does not have.
func (t *faultyText) undefinedMember(name string) string {
	if strings.HasPrefix(t.rest, ".") {
		t.shift = 1
	}
	of := lastWord.FindStringSubmatch(t.before)
	if of == nil || len(members(of[1])) == 0 {
		return fmt.Sprintf("there is no member %q here", name)
	}
	known := members(of[1])
	hint := schemas.Hint(name, known)
	switch {
	case hint != "":
	case of[1] == "user" && !slices.Contains(known, name):
		hint = fmt.Sprintf("; attributes of the user are members of user.attributes, as in user.attributes.%s", name)
	case of[1] == "request":
		hint = "; an expression sees no header fields, cookies or addresses of the request"
	}
	return fmt.Sprintf("%s has no member %q; it has %s%s", of[1], name, strings.Join(known, ", "), hint)
}

// variables are the names at the top of every expression.
func variables() []string { return []string{"application", "inputs", repliesName, "request", "user"} }

// literals are the spellings of other languages.
var literals = map[string]string{
	"True": "true", "TRUE": "true", "False": "false", "FALSE": "false",
	"None": "null", "nil": "null", "NULL": "null", "Null": "null", "undefined": "null",
}

// undeclared describes a name that is neither a variable nor a function.
func (t *faultyText) undeclared(name string) string {
	top, _, _ := strings.Cut(name, ".")
	if strings.HasPrefix(t.rest, "(") { // the place of a call is that of its parenthesis
		if strings.HasSuffix(t.before, name) {
			t.shift = -len([]rune(name))
		}
		return undeclaredFunction(name)
	}
	if top == repliesName {
		return t.undeclaredReply()
	}
	if right, is := literals[name]; is {
		return fmt.Sprintf("there is no %s; write %s", name, right)
	}
	message := fmt.Sprintf("there is no variable %q; expected %s", name, schemas.OneOf(variables()))
	inputs := t.config.Collected().Inputs
	switch {
	case slices.Contains([]string{"now", "time", "date", "today", "clock"}, strings.ToLower(name)):
		return message + "; an expression has no clock: compare a date in the reply of an http-request"
	case hasKey(inputs, name):
		return message + fmt.Sprintf("; the input is inputs.%s", name)
	case slices.Contains(members("user"), name):
		return message + "; did you mean user." + name + "?"
	case slices.Contains(members("request"), name):
		return message + "; did you mean request." + name + "?"
	}
	return message + schemas.Hint(name, slices.Concat(variables(), slices.Sorted(maps.Keys(inputs))))
}

func hasKey[V any](m map[string]V, key string) bool {
	_, has := m[key]
	return has
}

// undeclaredReply describes a reply that no node stores.
func (t *faultyText) undeclaredReply() string {
	var known []string
	for name, types := range t.config.Collected().Replies {
		for member := range types {
			known = append(known, schemas.ReplyVariable(name, member))
		}
	}
	if len(known) == 0 {
		return "no node of this flow stores a reply: declare one in an http-request, with `as` and `reply`"
	}
	slices.Sort(known)
	return "no node of this flow stores such a reply; expected " + schemas.OneOf(known) + ", without has()"
}

// functions are those that conditions use.
func functions() []string {
	return []string{"all", "contains", "endsWith", "exists", "exists_one", "filter", "has", "int", "map", "matches", "size", "startsWith", "string"}
}

// undeclaredFunction describes a function that expressions do not have.
func undeclaredFunction(name string) string {
	instead := map[string]string{
		"len": "size", "length": "size", "count": "size", "includes": "contains", "any": "exists", "some": "exists", "every": "all",
		"match": "matches", "regex": "matches", "test": "matches", "startswith": "startsWith", "endswith": "endsWith",
	}[strings.ToLower(name)]
	message := fmt.Sprintf("there is no function %q; expected %s", name, schemas.OneOf(functions()))
	if strings.Contains(strings.ToLower(name), "lower") || strings.Contains(strings.ToLower(name), "upper") {
		return message + `; to ignore the case, write x.matches("(?i)^value$")`
	}
	if instead != "" {
		return message + fmt.Sprintf("; did you mean %q?", instead)
	}
	return message + schemas.Hint(name, functions())
}

// operatorNames are the functions of the library that operators stand for.
var operatorNames = map[string]string{
	"_==_": "==", "_!=_": "!=", "_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">=", "_&&_": "&&", "_||_": "||", "!_": "!",
	"_+_": "+", "_-_": "-", "_*_": "*", "_/_": "/", "_%_": "%", "-_": "-", "@in": "in", "_[_]": "[ ]", "_?_:_": "? :",
}

// mismatch describes arguments that an operator or a function does not take.
func mismatch(function, types string) string {
	operator, is := operatorNames[function]
	switch {
	case !is:
		return fmt.Sprintf("%s cannot be called with %s", function, types)
	case slices.Contains([]string{"&&", "||", "!", "? :"}, operator):
		return fmt.Sprintf("%s needs true or false, but gets %s; compare the value, as in x == \"a\"", operator, types)
	case operator == "in":
		return fmt.Sprintf("in needs a value and a list of such values, but gets %s; for a part of a text, write x.contains(y)", types)
	case operator == "[ ]":
		return fmt.Sprintf("[ ] cannot be used with %s", types)
	}
	return fmt.Sprintf("%s needs two values of one type, but gets %s", operator, types)
}

// spellings are what other languages write for an operator.
var spellings = map[string]string{
	"and": "&&", "or": "||", "&": "&&", "|": "||", "=": "==", "===": "==", "!==": "!=", "<>": "!=", "is": "==", "equals": "==", "eq": "==", "ne": "!=",
	"=<": "<=", "=>": ">=",
}

// syntax describes an error of syntax by the words around it.
func (t *faultyText) syntax(message string) string {
	token, word := firstToken.FindString(t.rest), ""
	if m := lastWord.FindStringSubmatch(t.before); m != nil {
		word = m[1]
	}
	switch right, is := spellings[strings.ToLower(token)]; {
	case strings.ContainsAny(t.rest, "“”‘’„") && strings.ContainsAny(token, "“”‘’„"):
		return `a text has straight quotes; write "a" or 'a'`
	case is:
		return fmt.Sprintf("there is no operator %s; write %s", token, right)
	case strings.EqualFold(token, "not"):
		return "there is no operator not; write !( ), as in !(x in y)"
	case strings.EqualFold(word, "not"):
		return "there is no operator not; write ! before the condition"
	case strings.EqualFold(word, "if") || slices.Contains([]string{"then", "else", "if"}, strings.ToLower(token)):
		return noIf
	case strings.HasSuffix(t.before, "<") && token == ">":
		return "there is no operator <>; write !="
	case slices.Contains([]string{"contains", "matches", "startsWith", "endsWith"}, token):
		return fmt.Sprintf("%s is a function; write x.%s(y)", token, token)
	case strings.EqualFold(token, "like"):
		return `there is no operator like; write x.startsWith(y), x.contains(y) or x.matches("…")`
	case strings.HasPrefix(t.text, "{{") || strings.HasPrefix(t.text, "${"):
		return "an expression stands alone, without braces around it"
	}
	return t.syntaxOfEnds(message, token)
}

// syntaxOfEnds describes an error of syntax where something is open, superfluous or missing.
func (t *faultyText) syntaxOfEnds(message, token string) string {
	switch {
	case strings.HasPrefix(message, "token recognition error") && (token == `"` || token == "'"):
		return "the text that begins here has no closing quote"
	case strings.HasPrefix(message, "missing ')'"), strings.Contains(message, "'<EOF>'") && strings.Count(t.text, "(") > strings.Count(t.text, ")"):
		return "a ) is missing"
	case token == ")" && strings.Count(t.text, "(") < strings.Count(t.text, ")"):
		return "there is no ( for this )"
	case strings.Contains(message, "'<EOF>'") || token == "":
		return "the expression ends here, and a value is missing"
	case token != "":
		return fmt.Sprintf("%s is not expected here; expected an operator, such as &&, || or ==, or the end", token)
	}
	return message
}
