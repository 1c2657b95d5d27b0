package declare_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/schemas"
)

// Each text is refused with the wanted message, which has the position and the fix.
func TestReadSeedRefuses(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"an empty file", "", "seed.yaml:1:1: expected a document, the text is empty"},
		{"only a comment", "# nothing\n", "expected a document"},
		{"an empty object", "{}\n", "seed.yaml:1:1: expected an object with resources"},
		{"a list", "- a\n", "seed.yaml:1:1: expected an object"},
		{"a word", "groups\n", "seed.yaml:1:1: expected an object"},
		{"an unknown member", "groups: []\nuser: []\n", `seed.yaml:2:1: user: unknown member "user"; did you mean "users"?`},
		{"one that is like none", "things: []\n", `unknown member "things"; known: organizationUnits, userTypes`},
		{"no list", "groups: {name: a}\n", "seed.yaml:1:9: groups: expected a list of groups"},
		{"no object in it", "groups:\n  - name: a\n  - staff\n", "seed.yaml:3:5: expected an object: the group"},
		{"an empty one", "groups:\n  - {}\n", "seed.yaml:2:5: expected a group, the object is empty"},
		{"no YAML", "groups: [a\n", "seed.yaml:1:9: the list that begins here is not closed"},
		{"a member twice", "groups: []\ngroups: []\n", "seed.yaml:2:1"},
		{"two documents", "groups: []\n---\nusers: []\n", "expected one document"},
		{"an alias", "groups: &a []\nusers: *a\n", "anchors (&a) are not supported"},
		{"a password in clear", "users:\n  - {type: Person, attributes: {password: hunter2hunter2}}\n",
			"seed.yaml:2:43: attributes.password: expected a reference to the secret, got the secret in plain text; replace it with {env: NAME}"},
		{"a client secret in clear", "applications:\n  - {name: a, clientSecret: hunter2hunter2hunter2hunter2hunter2hu}\n", "seed.yaml:2:29: clientSecret: expected a reference to the secret, got the secret in plain text"},
		{"one in the configuration", "applications:\n  - name: a\n    inboundAuthConfig: [{type: oauth2, config: {clientSecret: hunter2hunter2hunter2hunter2hunter2hu}}]\n",
			"inboundAuthConfig[0].config.clientSecret: expected a reference to the secret, got the secret in plain text"},
		{"a secret from nowhere", "users:\n  - {type: Person, attributes: {password: {}}}\n", "seed.yaml:2:43: attributes.password: expected {env: NAME}"},
		{"one from two places", "users:\n  - {type: Person, attributes: {password: {env: A, file: b}}}\n", "expected {env: NAME}"},
		{"one from elsewhere", "users:\n  - {type: Person, attributes: {password: {vault: A}}}\n", "expected {env: NAME}"},
		{"a number for one", "users:\n  - {type: Person, attributes: {password: 12345678}}\n", "expected {env: NAME}"},
		{"too much", "# " + strings.Repeat("x", 4<<20) + "\ngroups: []\n", "seed.yaml: expected a file of at most 4194304 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			list, err := declare.ReadSeed("seed.yaml", []byte(tt.text))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%d resources, %v\nexpected %s", len(list), err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error contains the secret: %v", err)
			}
		})
	}
}

// All faults are reported at once, in the order of their positions.
func TestReadSeedReportsAllErrors(t *testing.T) {
	_, err := declare.ReadSeed("a.yaml", []byte("users:\n  - {attributes: {password: x}}\n  - {}\ngroup: []\nroles: {}\n"))
	want := []string{"a.yaml:2:29", "a.yaml:3:5", "a.yaml:4:1", "a.yaml:5:8"}
	lines := strings.Split(err.Error(), "\n")
	if len(lines) != len(want) {
		t.Fatalf("%v", err)
	}
	for i, line := range lines {
		if !strings.HasPrefix(line, want[i]) {
			t.Errorf("%s, expected %s", line, want[i])
		}
	}
}

func TestReadTreeRefuses(t *testing.T) {
	const flow = "handle: a\nflowType: AUTHENTICATION\n"
	tests := []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"nothing", nil, "has no folder of resources: expected one of organization-units"},
		{"an unknown folder", map[string]string{"groops/a.yaml": "name: a\n"}, `groops: unknown folder "groops"; did you mean "groups"?`},
		{"a file outside", map[string]string{"groups/a.yaml": "name: a\n", "a.yaml": "name: a\n"}, "a.yaml: unexpected file"},
		{"a folder inside", map[string]string{"groups/a/b.yaml": "name: a\n"}, "a: unexpected folder; expected files of resources"},
		{"another ending", map[string]string{"groups/a.yml": "name: a\n"}, "a.yml: expected a file that ends with .yaml"},
		{"an empty file", map[string]string{"groups/a.yaml": "\n"}, "a.yaml:1:1: expected a document, the text is empty"},
		{"an empty object", map[string]string{"groups/a.yaml": "{}\n"}, "a.yaml:1:1: expected a group, the object is empty"},
		{"a list", map[string]string{"groups/a.yaml": "- name: a\n"}, "a.yaml:1:1: expected an object"},
		{"a flow without a type's folder", map[string]string{"flows/a.yaml": flow}, "a.yaml: expected the folders authentication, registration and subflow"},
		{"another folder of flows", map[string]string{"flows/login/a.yaml": flow}, "login: expected the folders authentication, registration and subflow"},
		{"a flow in the other's folder", map[string]string{"flows/registration/a.yaml": flow}, "a.yaml:2:11: flowType: expected REGISTRATION, the type of the folder, got \"AUTHENTICATION\""},
		{"a secret in clear", map[string]string{"users/a.yaml": "attributes: {password: hunter2hunter2}\n"}, "a.yaml:1:24: attributes.password: expected a reference to the secret, got the secret in plain text"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			for name, text := range tt.files {
				write(t, dir, name, text)
			}
			_, err := declare.ReadTree(dir)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v\nexpected %s", err, tt.want)
			}
		})
	}
	if _, err := declare.ReadTree(filepath.Join(t.TempDir(), "none")); err == nil || !strings.Contains(err.Error(), "there is no folder") {
		t.Errorf("a folder that is not there: %v", err)
	}
	file := filepath.Join(t.TempDir(), "file")
	datatest.WriteFile(t, file, "")
	if _, err := declare.ReadTree(file); err == nil || !strings.Contains(err.Error(), "is not a folder") {
		t.Errorf("a file: %v", err)
	}
}

// ReadTree ignores dot files and scenarios of flows. It follows symbolic links within the tree, which some
// systems use to mount files.
func TestReadTreeSkips(t *testing.T) {
	dir := t.TempDir()
	elsewhere := filepath.Join(dir, ".mounted")
	write(t, dir, ".git/HEAD", "ref: refs/heads/main\n")
	write(t, dir, "flows/authentication/a.yaml", "handle: a\nflowType: AUTHENTICATION\n")
	write(t, dir, "flows/authentication/a_test.yaml", "scenarios: []\n")
	write(t, dir, "groups/.keep", "\n")
	write(t, elsewhere, "b.yaml", "name: b\n")
	if err := os.Symlink(filepath.Join(elsewhere, "b.yaml"), filepath.Join(dir, "groups", "b.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(elsewhere, filepath.Join(dir, "roles")); err != nil {
		t.Fatal(err)
	}
	tree, err := declare.ReadTree(dir)
	if err != nil || len(tree.Resources) != 3 || !tree.Nouns["roles"] || tree.Nouns["users"] {
		t.Errorf("%+v, %v", tree, err)
	}
}

// FuzzReadSeed reads arbitrary texts. The result is resources that are objects, or faults
// with positions.
func FuzzReadSeed(f *testing.F) {
	for _, text := range []string{
		seed, many(2, 2, 1), "users:\n  - {attributes: {password: {env: A}}}\n", "groups: [{members: [{type: user, id: a}, 1, {type: [], id: {}}]}]",
		"applications: [{inboundAuthConfig: {}, clientSecret: {file: ../x}}]", "roles: [{assignments: {a: b}}]", "flows: [{flowType: [], handle: 1}]", "a: *b", "\x00", "{groups: [{ouId: [[]]}]}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := declare.ReadSeed("seed.yaml", text)
		if err != nil {
			faults, ok := err.(declare.Faults)
			if !ok || len(faults) == 0 {
				t.Fatalf("%T: %v", err, err)
			}
			for _, fault := range faults {
				if fault.Line < 1 || fault.Column < 1 || fault.Message == "" {
					t.Errorf("%+v has no place", fault)
				}
			}
			return
		}
		for _, r := range list {
			if len(r.Document.Members()) == 0 || r.Name() == "" {
				t.Errorf("%s is taken for a %s", r.Document.JSON(), r.Noun.Name)
			}
		}
		made := 0
		err = declare.Ensure(t.Context(), &maker{t}, list, environ("A=b"), func(declare.Ensured) { made++ })
		if err == nil && made != len(list) {
			t.Errorf("of %d resources %d were made", len(list), made)
		}
	})
}

// maker is an empty target that accepts everything.
type maker struct{ t *testing.T }

// NewID implements declare.Target.
func (*maker) NewID() string { return schemas.NewID() }

// Get implements declare.Target.
func (*maker) Get(context.Context, declare.Noun, string) (*declare.Entry, error) { return nil, nil }

// List implements declare.Target.
func (*maker) List(context.Context, declare.Noun, string) ([]*declare.Entry, error) { return nil, nil }

// Create implements declare.Target. Documents contain an id and no source of a secret.
func (m *maker) Create(_ context.Context, _ declare.Noun, d *schemas.Document) (*declare.Entry, error) {
	id := d.At("id")
	if id == nil {
		m.t.Errorf("%s has no id", d.JSON())
		return &declare.Entry{Document: d}, nil
	}
	if secret := d.At("attributes.password"); secret != nil && d.At("attributes.password.env") != nil {
		m.t.Errorf("%s has no secret", d.JSON())
	}
	text, _ := id.Text()
	return &declare.Entry{ID: text, Document: d}, nil
}

// Replace implements declare.Target.
func (m *maker) Replace(context.Context, declare.Noun, *declare.Entry, *schemas.Document) (*declare.Entry, error) {
	m.t.Error("what exists is replaced")
	return nil, nil
}
