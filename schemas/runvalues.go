package schemas

import "strings"

// RunValues are values of a run that claims of its application read, by their names in expressions of flows:
// inputs.department, or replies.risk.level. A secret is never among them.
type RunValues map[string]any

// KeepRunValues stores the values of the run that answers an authorization request, with the session in which it ends.
// They stay as long as the tokens of that sign-in.
type KeepRunValues struct {
	RequestID, SessionID string
	Values               RunValues
}

func (KeepRunValues) change() lock { return noLock() }

// The first parts of the names of values of a run.
const (
	inputsOfRun  = "inputs"
	repliesOfRun = "replies"
)

// InputVariable returns the name of an input in expressions of flows.
func InputVariable(identifier string) string { return inputsOfRun + "." + identifier }

// ReplyVariable returns the name of a value of a reply in expressions of flows.
func ReplyVariable(reply, value string) string { return repliesOfRun + "." + reply + "." + value }

// ParseVariable returns the parts of the name of a value of a run: an input, or a reply and its value. The others
// are "".
func ParseVariable(name string) (input, reply, value string, ok bool) {
	of, rest, _ := strings.Cut(name, ".")
	switch of {
	case inputsOfRun:
		return rest, "", "", rest != ""
	case repliesOfRun:
		reply, value, _ = strings.Cut(rest, ".")
		return "", reply, value, reply != "" && value != ""
	}
	return "", "", "", false
}
