package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// flowFile builds a flow file.
type flowFile struct {
	handle, name string
	flowType     schemas.FlowType
	notes        []string
	nodes        []flowNode
	used         map[string]int
}

// flowNode is a node. A map has its members in the order of their names.
type flowNode struct {
	id, use string
	with    map[string]any
	next    map[string]string
	notes   []string
}

func newFlowFile(handle, name string, t schemas.FlowType) *flowFile {
	return &flowFile{handle: slug(handle), name: name, flowType: t, used: map[string]int{"end": 1}}
}

// id returns an unused ID for a node.
func (f *flowFile) id(wanted string) string {
	wanted = strings.ReplaceAll(slug(wanted), "_", "-")
	f.used[wanted]++
	if n := f.used[wanted]; n > 1 {
		return f.id(fmt.Sprintf("%s-%d", wanted, n))
	}
	return wanted
}

// add adds a node and returns its ID.
func (f *flowFile) add(n flowNode) string {
	f.nodes = append(f.nodes, n)
	return n.id
}

// text returns the file: the node with the ID is the first one.
func (f *flowFile) text(entry string) []byte {
	var b bytes.Buffer
	for _, note := range f.notes {
		writeComment(&b, "", note)
	}
	fmt.Fprintf(&b, "handle: %s\nname: %s\nflowType: %s\nnodes:\n", f.handle, inline(f.name), f.flowType)
	for _, first := range []bool{true, false} {
		for _, n := range f.reachable(entry) {
			if (n.id == entry) == first {
				n.write(&b)
			}
		}
	}
	return b.Bytes()
}

// reachable returns the nodes that runs can reach.
func (f *flowFile) reachable(entry string) (list []flowNode) {
	seen, pending := map[string]bool{}, []string{entry}
	for len(pending) > 0 {
		id := pending[0]
		pending = pending[1:]
		if seen[id] {
			continue
		}
		seen[id] = true
		for _, n := range f.nodes {
			if n.id != id {
				continue
			}
			list = append(list, n)
			for _, name := range sortedKeys(n.next) {
				pending = append(pending, n.next[name])
			}
		}
	}
	return list
}

func (n flowNode) write(b *bytes.Buffer) {
	for _, note := range n.notes {
		writeComment(b, "  ", note)
	}
	fmt.Fprintf(b, "  - id: %s\n    use: %s\n", n.id, n.use)
	if len(n.with) > 0 {
		fmt.Fprintf(b, "    with: %s\n", inline(n.with))
	}
	if len(n.next) > 0 {
		fmt.Fprintf(b, "    next: %s\n", inline(n.next))
	}
}

func writeComment(b *bytes.Buffer, indent, text string) {
	for line := range strings.Lines(text) {
		fmt.Fprintf(b, "%s# %s\n", indent, strings.TrimSpace(line))
	}
}

// inline returns a value as JSON, which is YAML.
func inline(v any) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err) // maps, lists and texts marshal
	}
	return strings.TrimSpace(b.String())
}

var notSlug = regexp.MustCompile(`[^a-z0-9_]+`)

// slug returns a text as a handle: lower-case letters, digits, - and _.
func slug(text string) string {
	text = strings.Trim(notSlug.ReplaceAllString(strings.ToLower(text), "-"), "-_")
	if len(text) > 60 {
		text = strings.Trim(text[:60], "-_")
	}
	if text == "" {
		return "imported"
	}
	return text
}

// addEnd adds the end of a sign-in: consent, which is asked only if it is due, and the code.
func (f *flowFile) addEnd() string {
	done := f.add(flowNode{id: f.id("done"), use: "authorization-code"})
	return f.add(flowNode{id: f.id("consent"), use: "consent", next: map[string]string{"granted": done, "denied": "end"}})
}

// prompt returns the configuration of a prompt.
func prompt(title string, inputs []any, actions ...any) map[string]any {
	return map[string]any{"title": title, "inputs": inputs, "actions": actions}
}

func action(ref, label string) map[string]any { return map[string]any{"ref": ref, "label": label} }

func usernameInput() map[string]any {
	return map[string]any{"identifier": "username", "type": "TEXT_INPUT", "label": "Username or email", "required": true, "autocomplete": "username"}
}

func passwordInput() map[string]any {
	return map[string]any{"identifier": "password", "type": "PASSWORD_INPUT", "label": "Password", "required": true, "autocomplete": "current-password"}
}

// findUser is the configuration of a node that finds the user without revealing whether there is one.
func findUser() map[string]any {
	return map[string]any{"by": []any{"username", "email"}, "from": "username", "conceal": true}
}
