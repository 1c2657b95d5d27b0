package schemas

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"
)

// ToYAML returns a JSON text as YAML in block style, with the members in their order. ParseYAML of
// the result equals ParseJSON of the text. Equal texts yield equal YAML.
func ToYAML(text json.RawMessage) ([]byte, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	root, err := yamlNode(d)
	if err != nil {
		return nil, fmt.Errorf("writing YAML: %w", err)
	}
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return nil, fmt.Errorf("writing YAML: %w", err)
	}
	return b.Bytes(), nil
}

// yamlNode returns a node for the next value.
func yamlNode(d *json.Decoder) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	switch v := token.(type) {
	case json.Delim:
		return yamlNodes(d, v)
	case string:
		return yamlText(v), nil
	case json.Number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: v.String()}, nil
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: fmt.Sprint(v)}, nil
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}, nil
}

// yamlNodes returns a node for the list or object that was just opened. An empty one has no block
// style.
func yamlNodes(d *json.Decoder, opened json.Delim) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if opened == '[' {
		n = &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	}
	for d.More() {
		inner, err := yamlNode(d) // a name comes as a string
		if err != nil {
			return nil, err
		}
		if opened == '{' && len(n.Content)%2 == 0 && inner.Style == yaml.LiteralStyle {
			inner.Style = yaml.DoubleQuotedStyle // a name has one line
		}
		n.Content = append(n.Content, inner)
	}
	_, err := d.Token()
	return n, err
}

// yamlText is a string. It is in double quotes if other parsers would interpret the library's
// choice differently (a merge key, the booleans of YAML 1.1), or if a block cannot represent it
// exactly.
func yamlText(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch strings.ToLower(s) {
	case "<<", "=", "y", "n", "yes", "no", "on", "off":
		n.Style = yaml.DoubleQuotedStyle
	}
	if !strings.Contains(s, "\n") {
		return n
	}
	n.Style = yaml.DoubleQuotedStyle
	if lines := strings.TrimSuffix(s, "\n"); lines != "" && lines == strings.TrimSpace(s) && !strings.ContainsAny(s, "\t\r") {
		n.Style = yaml.LiteralStyle
	}
	return n
}
