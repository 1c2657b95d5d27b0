package engine

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// checkEffects warns of flows that do not do what their type promises, and of texts with placeholders.
func (c *compiler) checkEffects() {
	if !c.forAuthor {
		return // the finding is for authors
	}
	if c.flow.FlowType != schemas.Subflow && c.errorCount == 0 {
		c.checkPurpose()
	}
	for i, n := range c.nodes {
		if c.nodeOrigins[i].scope.use < 0 {
			c.checkPlaceholders(i, c.graph.nodes[i].kind, n.With)
		}
	}
}

// checkPurpose warns of a sign-in that signs no user in and changes nothing, and of a sign-up that creates
// no user.
func (c *compiler) checkPurpose() {
	creates, changes, signsIn := false, false, false
	for _, n := range c.graph.nodes {
		signsIn = signsIn || n.kind.Terminal && !n.kind.Denies
		changes = changes || n.kind.Acts
		for _, e := range n.edges {
			creates = creates || slices.Contains(e.Establishes, New)
			changes = changes || slices.Contains(e.Establishes, New) || slices.Contains(e.Establishes, Credential) || slices.Contains(e.Establishes, Enrolled)
		}
	}
	warn := func(message string) {
		c.addFinding(-1, schemas.Problem{Rule: RuleEffect, Path: "flowType", Warning: true, Message: message})
	}
	switch {
	case c.flow.FlowType == schemas.Authentication && !signsIn && !changes:
		warn("no run of this flow signs its user in: all paths lead to `end`; lead them to a node of the kind authorization-code")
	case c.flow.FlowType == schemas.Registration && !creates && !changes:
		warn("no run of this sign-up creates a user; add a node of the kind user-create")
	}
}

// checkPlaceholders warns of texts with placeholders of other products, which users see as they are.
func (c *compiler) checkPlaceholders(i int, kind *Kind, with json.RawMessage) {
	if kind == nil || !strings.Contains(string(with), "{{") && !strings.Contains(string(with), "${") {
		return
	}
	var expressions []string
	if kind.Expressions != nil {
		for _, e := range kind.Expressions(withOf(&c.nodes[i])) {
			expressions = append(expressions, e.Path)
		}
	}
	var value any
	if json.Unmarshal(with, &value) != nil {
		return
	}
	eachText(value, "", func(path, text string) {
		at := max(strings.Index(text, "{{"), strings.Index(text, "${"))
		if at < 0 || slices.Contains(expressions, path) || strings.HasSuffix(path, "pattern") {
			return
		}
		c.addFinding(i, schemas.Problem{Rule: RuleEffect, Path: c.nodePath(i, schemas.JoinPath("with", path)), Within: len([]rune(text[:at])) + 1, Warning: true,
			Message: "texts have no placeholders: users see " + strings.TrimSpace(text[at:min(len(text), at+placeholderLength)]) + " as it is; write a text that is right for every user"})
	})
}

// placeholderLength limits how much of a placeholder a finding shows.
const placeholderLength = 40

// eachText calls visit with each text in a value and its path.
func eachText(value any, path string, visit func(path, text string)) {
	switch v := value.(type) {
	case string:
		visit(path, v)
	case []any:
		for i, item := range v {
			eachText(item, fmt.Sprintf("%s[%d]", path, i), visit)
		}
	case map[string]any:
		for _, name := range sortedKeys(v) {
			eachText(v[name], schemas.MemberPath(path, name), visit)
		}
	}
}
