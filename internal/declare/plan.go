package declare

import (
	"fmt"
	"io"
)

// Action is what is done with a resource.
type Action string

// The actions.
const (
	Create  Action = "create"
	Replace Action = "change"
	Delete  Action = "delete"
)

// Step is one resource that is created, changed or deleted. File is "" for what
// no file declares; Changes are those of values, by path.
type Step struct {
	Action  Action
	Name    string // `group "staff"`
	File    string
	Changes []Change
	// Secret says that a secret changes too.
	Secret bool
}

// Plan is what is to be done so that a store is as files say.
type Plan struct {
	Steps []Step
	// Applied says that it was done.
	Applied bool
}

// Count returns how many steps are of an action.
func (p *Plan) Count(a Action) (n int) {
	for _, s := range p.Steps {
		if s.Action == a {
			n++
		}
	}
	return n
}

// Write writes the steps, the changes of values below them, and how many there
// are.
func (p *Plan) Write(w io.Writer) {
	signs := map[Action]string{Create: "+", Replace: "~", Delete: "-"}
	for _, s := range p.Steps {
		fmt.Fprintf(w, "%s %s", signs[s.Action], s.Name)
		if s.File != "" {
			fmt.Fprintf(w, "  (%s)", s.File)
		}
		fmt.Fprintln(w)
		for _, c := range s.Changes {
			fmt.Fprintf(w, "    %s\n", c)
		}
		if s.Secret {
			fmt.Fprintln(w, "    the secret, which is not shown")
		}
	}
	fmt.Fprintf(w, "%d to create, %d to change, %d to delete\n", p.Count(Create), p.Count(Replace), p.Count(Delete))
}
