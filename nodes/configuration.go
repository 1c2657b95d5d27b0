package nodes

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// configure decodes a node's configuration into T. The schema of the kind has accepted it, so a
// failure means that schema and T disagree.
func configure[T any](c *engine.Config) (T, []schemas.Problem) {
	var with T
	if len(c.With) == 0 {
		return with, nil
	}
	if err := json.Unmarshal(c.With, &with); err != nil {
		return with, []schemas.Problem{{Message: err.Error()}}
	}
	return with, nil
}

// problem returns a finding about a part of the configuration.
func problem(path, format string, args ...any) schemas.Problem {
	return schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)}
}

// checkInput reports a reference to an input that no prompt collects or that is secret. The engine
// passes a secret only to the node that verifies or sets it.
func checkInput(c *engine.Config, path, identifier string) []schemas.Problem {
	t, collected := c.Inputs[identifier]
	switch {
	case !collected && c.Partial:
		return nil
	case !collected:
		return []schemas.Problem{problem(path, "no prompt of this flow collects an input %q; %s",
			identifier, collects(c))}
	case t.Secret():
		secret := problem(path, "the input %q is a secret (%s): only a node that verifies or sets it, such as password-authenticate, "+
			"password-set or totp, may read it; use another input here", identifier, t)
		secret.Rule = engine.RuleSecret
		return []schemas.Problem{secret}
	}
	return nil
}

// collects lists the inputs of a flow for messages.
func collects(c *engine.Config) string {
	if len(c.Inputs) == 0 {
		return "it collects none at all: put a prompt before this node"
	}
	names := make([]string, 0, len(c.Inputs))
	for name := range c.Inputs {
		names = append(names, name)
	}
	slices.Sort(names)
	return "it collects " + strings.Join(names, ", ")
}
