package schemas

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

// grouped are the nouns whose members have groups.
func grouped() map[string]*Schema {
	return map[string]*Schema{
		"application": ApplicationSchema(), "user": UserSchema(), "user-type": UserTypeSchema(), "group": GroupSchema(), "role": RoleSchema(),
		"resource-server": ResourceServerSchema(), "identity-provider": IdentityProviderSchema(), "organization-unit": OrganizationUnitSchema(),
	}
}

// form is a schema, as far as forms read it.
type form struct {
	Ref         string `json:"$ref"`
	Title       string
	Description string
	Enum        []string
	Items       *form
	Properties  map[string]*form
	Defs        map[string]*form  `json:"$defs"`
	Groups      []formGroup       `json:"x-groups"`
	Group       string            `json:"x-group"`
	Labels      map[string]string `json:"x-labels"`
	IsHidden    bool              `json:"x-hidden"`
	IsReadOnly  bool              `json:"readOnly"`
}

type formGroup struct {
	Name, Title, Description string
	Sections                 []formGroup
}

// members calls visit with each member of a schema, at any depth.
func (f *form) members(root *form, path string, visit func(path string, member *form)) {
	if name, isRef := strings.CutPrefix(f.Ref, "#/$defs/"); isRef && strings.Count(path, ".") < 6 {
		root.Defs[name].members(root, path, visit)
	}
	if f.Items != nil {
		f.Items.members(root, path, visit)
	}
	for name, member := range f.Properties {
		at := strings.TrimPrefix(path+"."+name, ".")
		visit(at, member)
		member.members(root, at, visit)
	}
}

// isPlaced reports whether a member, or one in it, is in a group.
func (f *form) isPlaced(root *form) bool {
	placed := f.Group != "" || f.IsHidden || f.IsReadOnly
	f.members(root, "", func(_ string, inner *form) { placed = placed || inner.Group != "" })
	return placed
}

// Every member has a place: a section that the schema lists, a place in a member that has one, or none
// because no form shows it. Every section has members.
func TestMembersHaveGroups(t *testing.T) {
	for noun, schema := range grouped() {
		root, used, sections := new(form), map[string]bool{}, map[string]bool{}
		datatest.Unmarshal(t, schema.Raw(), root)
		for _, group := range root.Groups {
			for _, section := range group.Sections {
				sections[group.Name+"/"+section.Name] = true
			}
		}
		for name, member := range root.Properties {
			if !member.isPlaced(root) {
				t.Errorf("%s.%s has no x-group", noun, name)
			}
		}
		root.members(root, "", func(path string, member *form) {
			used[member.Group] = true
			if member.Group != "" && !sections[member.Group] {
				t.Errorf("%s.%s is in %q, which is not in x-groups", noun, path, member.Group)
			}
			options := member.Enum
			if member.Items != nil {
				options = append(options, member.Items.Enum...)
			}
			for value := range member.Labels {
				if !slices.Contains(options, value) {
					t.Errorf("%s.%s has a label for %q, which is not one of its values", noun, path, value)
				}
			}
			if words := strings.ToLower(strings.TrimRight(member.Description, ".")); words == "the "+strings.ToLower(member.Title) || words == strings.ToLower(member.Title) {
				t.Errorf("%s.%s: the description only repeats the title: %q", noun, path, member.Description)
			}
		})
		for section := range sections {
			if !used[section] {
				t.Errorf("%s: no member is in %s", noun, section)
			}
		}
	}
}

// Every text of a form is there in each language, and no other.
func TestFormsAreTranslated(t *testing.T) {
	texts := map[string]bool{}
	add := func(list ...string) {
		for _, text := range list {
			texts[text] = true
		}
	}
	for _, schema := range grouped() {
		root := new(form)
		datatest.Unmarshal(t, schema.Raw(), root)
		add(root.Title, root.Description)
		for _, group := range root.Groups {
			add(group.Title, group.Description)
			for _, section := range group.Sections {
				add(section.Title, section.Description)
			}
		}
		root.members(root, "", func(_ string, member *form) {
			add(member.Title, member.Description)
			for _, label := range member.Labels {
				add(label)
			}
		})
	}
	delete(texts, "")
	files, err := filepath.Glob("texts/*.json")
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		var translated map[string]string
		text, err := os.ReadFile(file)
		if err == nil {
			err = json.Unmarshal(text, &translated)
		}
		if err != nil {
			t.Fatal(err)
		}
		for text := range texts {
			if strings.TrimSpace(translated[text]) == "" {
				t.Errorf("%s lacks %q", file, text)
			}
		}
		for text := range translated {
			if !texts[text] {
				t.Errorf("%s translates %q, which no form has", file, text)
			}
		}
	}
}
