package declare

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// Fault is a problem in a file.
type Fault struct {
	File string
	schemas.Problem
}

// String returns the fault on one line: "roles/a.yaml:3:5: name: message".
func (f Fault) String() string {
	if f.Line > 0 {
		return f.File + ":" + f.Problem.String() // starts with line and column
	}
	return f.File + ": " + f.Problem.String()
}

// Faults is all faults of files, by file and position.
type Faults []Fault

// Error returns one line for each fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// err returns the sorted faults as an error; nil if there are none.
func (f Faults) err() error {
	if len(f) == 0 {
		return nil
	}
	slices.SortStableFunc(f, func(a, b Fault) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return f
}

// add adds a fault of a whole file.
func (f *Faults) add(file, format string, args ...any) {
	*f = append(*f, Fault{file, schemas.Problem{Message: fmt.Sprintf(format, args...)}})
}

// fault returns a fault at a path of the resource.
func (r *Resource) fault(path, format string, args ...any) Fault {
	return r.located(schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)})
}

func (r *Resource) located(p schemas.Problem) Fault {
	return Fault{r.File, r.Document.Locate([]schemas.Problem{p})[0]}
}

// refusal converts an error about the resource to faults; ok is false if the server failed.
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
	// The problems of a resource in use name its users, not paths of this file.
	if len(faults) == 0 || e.Code == schemas.CodeInUse {
		return Faults{r.fault("", "%s", e.Description.DefaultValue)}, true
	}
	return faults, true
}
