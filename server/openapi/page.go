package openapi

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html/template"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/postern-id/postern/internal/design"
)

//go:embed page.html
var pageText string

//go:embed page.css
var ownStyle string

// pageStyle returns the style of the page.
var pageStyle = sync.OnceValue(func() string { return design.Compatible() + ownStyle })

var pageTemplate = template.Must(template.New("page").Parse(pageText))

// PagePolicy returns the Content-Security-Policy of a Page, which has no script.
func PagePolicy() string {
	sum := sha256.Sum256([]byte(pageStyle()))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
}

// described is a Document, as far as a Page shows it.
type described struct {
	Info  struct{ Title, Description string }
	Paths map[string]map[string]struct {
		OperationID, Summary string
		Tags                 []string
		Security             []map[string][]string
		Parameters           []pageParameter
		RequestBody          pageBody
		Responses            map[string]pageBody
	}
	Components struct{ Schemas map[string]object }
}

type pageParameter struct {
	Name, In, Description string
	Schema                object
}

// Type returns the type of the parameter.
func (p pageParameter) Type() string { return typeOf(p.Schema).Text }

type pageBody struct {
	Description string
	Content     map[string]struct{ Schema object }
}

// pageOperation is an operation on the page.
type pageOperation struct {
	Method, Path, Anchor, Summary, Permission string
	NeedsToken                                bool
	Parameters                                []pageParameter
	Request, Reply                            *pageSchema
	MediaType, Status                         string
}

// pageSchema is a schema on the page: its type, and its members if it is an object.
type pageSchema struct {
	Name, Description string
	Type              pageType
	Members           []pageMember
}

type pageMember struct {
	Group              string // its title above the first member of a group
	Name, Description  string
	Type               pageType
	Required, ReadOnly bool
}

// pageType is a type in words, and the name of the schema that it leads to.
type pageType struct{ Text, Ref string }

type pageGroup struct {
	Name, Anchor string
	Operations   []pageOperation
}

// Page returns the page of a Document, as HTML. It needs PagePolicy.
func Page(text []byte) ([]byte, error) {
	var d described
	if err := json.Unmarshal(text, &d); err != nil {
		return nil, fmt.Errorf("openapi: %w", err)
	}
	var schemas []pageSchema
	for _, name := range slices.Sorted(maps.Keys(d.Components.Schemas)) {
		schema := pageSchemaOf(d.Components.Schemas[name])
		schema.Name = name
		schemas = append(schemas, *schema)
	}
	var page bytes.Buffer
	err := pageTemplate.Execute(&page, map[string]any{
		"Title": d.Info.Title, "Description": d.Info.Description, "Style": template.CSS(pageStyle()), "Mark": template.HTML(design.Mark()), "Groups": d.groups(), "Schemas": schemas,
	})
	return page.Bytes(), err
}

// groups returns the operations by group, sorted by path.
func (d *described) groups() []pageGroup {
	byName := map[string][]pageOperation{}
	for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
		for _, method := range []string{"get", "post", "put", "patch", "delete"} {
			if o, exists := d.Paths[path][method]; exists {
				group := strings.Join(o.Tags, "")
				shown := pageOperation{Method: strings.ToUpper(method), Path: path, Anchor: o.OperationID, Summary: o.Summary, Parameters: o.Parameters, NeedsToken: len(o.Security) > 0}
				if shown.NeedsToken {
					shown.Permission = strings.Join(o.Security[0]["token"], " ")
				}
				shown.MediaType, shown.Request = o.RequestBody.schema()
				for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
					if status != "default" {
						shown.Status = status + " " + o.Responses[status].Description
						_, shown.Reply = o.Responses[status].schema()
					}
				}
				byName[group] = append(byName[group], shown)
			}
		}
	}
	var groups []pageGroup
	for _, name := range slices.Sorted(maps.Keys(byName)) {
		groups = append(groups, pageGroup{name, "group-" + strings.ReplaceAll(strings.ToLower(name), " ", "-"), byName[name]})
	}
	return groups
}

// schema returns the media type and the schema of a body; nil for none.
func (b pageBody) schema() (mediaType string, s *pageSchema) {
	for mediaType, content := range b.Content {
		return mediaType, pageSchemaOf(content.Schema)
	}
	return "", nil
}

func pageSchemaOf(schema object) *pageSchema {
	s := &pageSchema{Type: typeOf(schema)}
	s.Description, _ = schema["description"].(string)
	required, _ := schema["required"].([]any)
	properties, _ := schema["properties"].(object)
	titles, group := groupTitles(schema), ""
	for _, name := range inOrder(properties) {
		property, _ := properties[name].(object)
		member := pageMember{Name: name, Type: typeOf(property), Required: slices.Contains(required, any(name))}
		member.Description, _ = property["description"].(string)
		member.ReadOnly, _ = property["readOnly"].(bool)
		if place, _ := property["x-group"].(string); titles[place] != "" && titles[place] != group {
			group = titles[place]
			member.Group = group
		}
		s.Members = append(s.Members, member)
	}
	return s
}

// groupTitles returns the titles of the groups of a schema's members by their places.
func groupTitles(schema object) map[string]string {
	titles := map[string]string{}
	groups, _ := schema["x-groups"].([]any)
	for _, value := range groups {
		group, _ := value.(object)
		sections, _ := group["sections"].([]any)
		for _, value := range sections {
			section, _ := value.(object)
			titles[fmt.Sprint(group["name"], "/", section["name"])] = fmt.Sprint(group["title"])
		}
	}
	return titles
}

// inOrder returns the names of properties in their order in the schema, or sorted if they have none.
func inOrder(properties object) []string {
	place := func(name string) float64 {
		property, _ := properties[name].(object)
		n, _ := property[orderMark].(float64)
		return n
	}
	return slices.SortedFunc(maps.Keys(properties), func(a, b string) int {
		return cmp.Or(cmp.Compare(place(a), place(b)), cmp.Compare(a, b))
	})
}

// typeOf returns the type of the values that a schema describes.
func typeOf(schema object) pageType {
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, componentPrefix)
		return pageType{name, name}
	}
	if all, ok := schema["allOf"].([]any); ok && len(all) > 0 {
		if first, ok := all[0].(object); ok {
			return typeOf(first)
		}
	}
	if items, ok := schema["items"].(object); ok {
		item := typeOf(items)
		return pageType{"list of " + item.Text, item.Ref}
	}
	if values, ok := schema["enum"].([]any); ok {
		return pageType{Text: strings.Trim(strings.ReplaceAll(fmt.Sprintf("%q", values), " ", " or "), "[]")}
	}
	names, isList := schema["type"].([]any)
	if !isList {
		return pageType{Text: cmp.Or(fmt.Sprint(cmp.Or(schema["type"], any("any value"))), "any value")}
	}
	var words []string
	for _, name := range names {
		words = append(words, fmt.Sprint(name))
	}
	return pageType{Text: strings.Join(words, " or ")}
}
