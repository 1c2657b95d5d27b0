package declare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Fault is something that is wrong in a file.
type Fault struct {
	File string
	schemas.Problem
}

// String writes the fault on one line: "roles/a.yaml:3:5: name: message".
func (f Fault) String() string {
	if f.Line > 0 {
		return f.File + ":" + f.Problem.String() // which begins with line and column
	}
	return f.File + ": " + f.Problem.String()
}

// Faults is everything that is wrong in files, by file and place.
type Faults []Fault

// Error writes each fault on a line of its own.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// err is the faults in their order as an error; nil if there are none.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	slices.SortStableFunc(f, func(a, b Fault) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return f
}

// add notes a fault of a file as a whole.
func (f *Faults) add(file, format string, args ...any) {
	*f = append(*f, Fault{file, schemas.Problem{Message: fmt.Sprintf(format, args...)}})
}

// addAll notes problems that a text has.
func (f *Faults) addAll(file string, problems []schemas.Problem) {
	for _, p := range problems {
		*f = append(*f, Fault{file, p})
	}
}

// fault is a fault at a path of the resource.
func (r *Resource) fault(path, format string, args ...any) Fault {
	return r.located(schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

func (r *Resource) located(p schemas.Problem) Fault {
	return Fault{r.File, r.Document.Locate([]schemas.Problem{p})[0]}
}

// refusal turns an error about the resource into faults; ok is false for one
// that is nobody's fault but the machine's.
func (r *Resource) refusal(err error) (faults Faults, ok bool) {
	e := schemas.AsError(err)
	if e.Class == schemas.Internal || e.Class == schemas.Unavailable || e.Class == schemas.Throttled {
		return nil, false
	}
	for _, p := range e.Errors {
		if !p.Warning {
			faults = append(faults, r.located(p))
		}
	}
	// What is in use is told by those who use it, whose names are no paths here.
	if len(faults) == 0 || e.Code == schemas.CodeInUse {
		return Faults{r.fault("", "%s", e.Description.DefaultValue)}, true
	}
	return faults, true
}
