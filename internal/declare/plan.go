package declare

import (
	"fmt"
	"io"
	"strings"
)

// Action is the action of a step.
type Action string

// The actions.
const (
	Create  Action = "create"
	Replace Action = "change"
	Delete  Action = "delete"
)

// Step is one resource that is created, changed or deleted. File is "" if no file declares
// it; Changes are the changed values by path.
type Step struct {
	Action  Action
	Name    string // `group "staff"`
	File    string
	Changes []Change
	// Secret reports that a secret changes too.
	Secret bool
}

// Plan lists the steps that make a store equal to files.
type Plan struct {
	Steps []Step
	// Administrators are the users and applications that get administrative permissions.
	Administrators []Administrator
	// Applied reports that the steps were carried out.
	Applied bool
}

// Administrator is a user or an application with new administrative permissions.
type Administrator struct {
	Name        string // `user "ann"`
	Permissions []string
}

// Count returns the number of steps with an action.
func (p *Plan) Count(a Action) (n int) {
	for _, s := range p.Steps {
		if s.Action == a {
			n++
		}
	}
	return n
}

// Write writes the steps, their changed values and the counts.
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
	for _, a := range p.Administrators {
		fmt.Fprintf(w, "! %s becomes an administrator: %s\n", a.Name, strings.Join(a.Permissions, " "))
	}
	fmt.Fprintf(w, "%d to create, %d to change, %d to delete\n", p.Count(Create), p.Count(Replace), p.Count(Delete))
}
