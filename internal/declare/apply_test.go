package declare_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

const shop = `name: Shop
inboundAuthConfig:
  - type: oauth2
    config:
      clientId: shop
      redirectUris: ["https://shop.example.com"]
      tokenEndpointAuthMethod: client_secret_basic
      clientSecret: {env: SHOP}
`

// A plan lists each changed resource and value. A second application has nothing to do.
func TestApply(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		w.ensure("groups: [{name: Old}, {name: Staff, description: who works here, members: [{type: user, id: ada}]}]")
		dir := w.export()
		write(t, dir, "groups/old.yaml", "")
		edit(t, dir, "groups/staff.yaml", "who works here", "who works with us")
		edit(t, dir, "groups/staff.yaml", "members:\n", "members:\n  - type: user\n    id: bob\n")
		write(t, dir, "users/bob.yaml", "type: Person\nouId: branch\nattributes: {username: bob}\n")
		write(t, dir, "organization-units/branch.yaml", "handle: branch\nname: Branch\nparentId: default\n")
		want := `+ organization unit "branch"  (organization-units/branch.yaml)
+ user "bob"  (users/bob.yaml)
~ group "Staff"  (groups/staff.yaml)
    description: "who works here" → "who works with us"
    members: + {"id":"bob","type":"user"}
- group "Old"
2 to create, 1 to change, 1 to delete
`
		before := w.files()
		for _, o := range []declare.Options{{Plan: true}, {Plan: true, Delete: true}, {}} {
			if plan := w.mustApply(dir, o); plan != want {
				t.Errorf("with %+v the plan is\n%s", o, plan)
			}
		}
		same(t, before, w.files())
		if plan := w.mustApply(dir, declare.Options{Delete: true}); plan != want+"applied\n" {
			t.Errorf("the plan is\n%s", plan)
		}
		if plan := w.mustApply(dir, declare.Options{}); !strings.HasPrefix(plan, "0 to create, 0 to change, 0 to delete\napplied") {
			t.Errorf("once more it is\n%s", plan)
		}
	})
}

// A tree declares only the nouns that it has folders for.
func TestApplyKeepsOtherNouns(t *testing.T) {
	w := newFixture(t)
	w.ensure("groups: [{name: Old}]")
	dir := t.TempDir()
	write(t, dir, "groups/administrators.yaml", "name: Administrators\nmembers: [{type: user, id: ada}]\n")
	write(t, dir, "groups/staff.yaml", "name: Staff\nouId: default\nmembers: [{type: user, id: ada}]\n")
	plan := w.mustApply(dir, declare.Options{Delete: true})
	if want := "+ group \"Staff\"  (groups/staff.yaml)\n- group \"Old\"\n1 to create, 0 to change, 1 to delete\napplied\n"; plan != want {
		t.Errorf("%s", plan)
	}
}

// All faults of all files are reported at their positions, and nothing is changed.
func TestApplyReportsAllErrors(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		dir := w.export()
		was := w.files()
		write(t, dir, "groups/a.yaml", "name: A\nmembers:\n  - {type: user, id: adaa}\n  - {type: group, id: B}\n  - {type: user, id: eve}\n")
		write(t, dir, "groups/b.yaml", "name: B\ndescripton: x\nouId: defualt\n")
		write(t, dir, "users/eve.yaml", "type: Persn\nattributes: {username: eve}\n")
		write(t, dir, "users/good.yaml", "type: Person\nattributes: {username: good}\n")
		write(t, dir, "roles/c.yaml", "name: C\npermissions: [\"system:users:raed\"]\n")
		write(t, dir, "flows/authentication/open.yaml", "handle: open\nname: Open\nflowType: AUTHENTICATION\nnodes:\n  - {id: done, use: authorization-code}\n")
		write(t, dir, "applications/d.yaml", "name: D\nauthFlowId: passkey-sign-up\nurl: ftp://x\n")
		_, err := w.apply(dir, declare.Options{Delete: true})
		if err == nil {
			t.Fatal("it was applied")
		}
		for _, want := range []string{
			`groups/a.yaml:3:22: members[0].id: there is no user "adaa" in the files; did you mean "ada"?`,
			`groups/b.yaml:2:1: descripton: unknown member "descripton"`, `groups/b.yaml:3:7: ouId: there is no organization unit "defualt" in the files; did you mean "default"?`,
			`users/eve.yaml:1:7: type: `, `roles/c.yaml:2:15: permissions[0]: `, `flows/authentication/open.yaml:5:5: `,
			`applications/d.yaml:2:13: authFlowId: there is no AUTHENTICATION flow "passkey-sign-up"`, `applications/d.yaml:3:6: url: `,
		} {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("no %s in\n%v", want, err)
			}
		}
		// Faults that only follow from others are not reported.
		for _, unwanted := range []string{"members[1]", "members[2]", "good"} {
			if strings.Contains(err.Error(), unwanted) {
				t.Errorf("%s in\n%v", unwanted, err)
			}
		}
		same(t, was, w.files())
	})
}

func TestApplyRefuses(t *testing.T) {
	tests := []struct {
		name  string
		files map[string]string
		o     declare.Options
		want  string
	}{
		{"the same twice", map[string]string{"groups/a.yaml": "name: A\n", "groups/b.yaml": "\nname: A\n"}, declare.Options{},
			`groups/b.yaml:2:1: the group "A" is declared twice, also in `},
		{"the same by id", map[string]string{"groups/a.yaml": "id: 01900000-0000-7000-8000-000000000040\nname: A\n", "groups/b.yaml": "name: Administrators\n"}, declare.Options{}, "declared twice"},
		{"usernames that are the same", map[string]string{"users/b.yaml": "type: Person\nattributes: {username: ADA}\n"}, declare.Options{}, "declared twice"},
		{"a cycle", map[string]string{"groups/a.yaml": "name: A\nmembers: [{type: group, id: B}]\n", "groups/b.yaml": "name: B\nmembers: [{type: group, id: A}]\n"}, declare.Options{},
			`a cycle of references: group "A" → group "B" → group "A"`},
		{"itself", map[string]string{"organization-units/a.yaml": "handle: a\nname: A\nparentId: a\n"}, declare.Options{}, "a cycle of references"},
		{"no secret", map[string]string{"applications/shop.yaml": shop}, declare.Options{}, "clientSecret: the environment variable SHOP is not set; set it to the secret of the application \"Shop\""},
		{"a secret that would not be shown", map[string]string{"applications/shop.yaml": strings.Replace(shop, "      clientSecret: {env: SHOP}\n", "", 1)}, declare.Options{}, "the client needs a secret, but a generated one would not be shown"},
		{"a secret file that is not there", map[string]string{"applications/shop.yaml": strings.Replace(shop, "env: SHOP", "file: shop.key", 1)}, declare.Options{}, "the secret cannot be read"},
		{"an id that is none", map[string]string{"groups/a.yaml": "id: a\nname: A\n"}, declare.Options{}, "groups/a.yaml:1:5: id: expected a UUID"},
		{"what is to be deleted", map[string]string{"users/ada.yaml": "", "groups/a.yaml": "name: A\nmembers: [{type: user, id: ada}]\n"}, declare.Options{Delete: true}, `there is no user "ada" in the files`},
		{"what is in use", map[string]string{"organization-units/default.yaml": "", "user-types/person.yaml": "", "organization-units/other.yaml": "handle: other\nname: Other\n"}, declare.Options{Delete: true}, `ouId: there is no organization unit "default" in the files`},
		{"what is read-only", map[string]string{"resource-servers/system.yaml": "id: 01900000-0000-7000-8000-000000000030\nhandle: system\nname: Mine\n"}, declare.Options{}, `the resource server "system" is read-only`},
		{"to delete what is read-only", map[string]string{"resource-servers/system.yaml": "", "resource-servers/a.yaml": "handle: a\nname: A\n",
			"roles/administrator.yaml": "", "roles/b.yaml": "name: B\n"}, declare.Options{Delete: true}, `the resource server "system" is read-only`},
		{"a name that is taken for another", map[string]string{"applications/console.yaml": "name: Соnsole\n"}, declare.Options{}, "mixes Cyrillic and Latin letters"},
		{"the last administrator", map[string]string{"groups/administrators.yaml": "id: 01900000-0000-7000-8000-000000000040\nname: Administrators\n"}, declare.Options{}, "no active user would be left"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newFixture(t)
			dir := w.export()
			was := w.files()
			for name, text := range tt.files {
				write(t, dir, name, text)
			}
			plan, err := w.apply(dir, tt.o)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%v\n%s\nexpected %s", err, plan, tt.want)
			}
			same(t, was, w.files())
		})
	}
}

// A resource matches by id first, then by name.
func TestApplyMatches(t *testing.T) {
	w := newFixture(t)
	w.ensure("groups: [{id: 01900000-0000-7000-8000-00000000a001, name: A}, {id: 01900000-0000-7000-8000-00000000a002, name: B}]")
	dir := w.export()
	write(t, dir, "groups/a.yaml", "id: 01900000-0000-7000-8000-00000000a001\nname: C\n")
	write(t, dir, "groups/b.yaml", "id: 01900000-0000-7000-8000-00000000a009\nname: B\ndescription: new\n")
	write(t, dir, "groups/d.yaml", "name: D\nmembers: [{type: group, id: C}, {type: group, id: 01900000-0000-7000-8000-00000000a009}]\n")
	plan := w.mustApply(dir, declare.Options{})
	for _, want := range []string{`~ group "C"`, `    name: "A" → "C"`, `~ group "B"`, `    description: + "new"`, "1 to create, 2 to change, 0 to delete"} {
		if !strings.Contains(plan, want) {
			t.Errorf("no %s in\n%s", want, plan)
		}
	}
	files := w.files()
	if text := string(files["groups/b.yaml"]); !strings.Contains(text, "a002") {
		t.Errorf("the id has changed:\n%s", text)
	}
	if text := string(files["groups/d.yaml"]); strings.Count(text, "type: group") != 2 {
		t.Errorf("%s", text)
	}
}

// A name can move from one resource to another if one of them becomes free, and units can
// swap places.
func TestApplyMoves(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		w.ensure(`
organizationUnits: [{id: 01900000-0000-7000-8000-00000000a011, handle: top, name: Top}, {id: 01900000-0000-7000-8000-00000000a012, handle: low, name: Low, parentId: top}]
groups: [{id: 01900000-0000-7000-8000-00000000a001, name: A}, {id: 01900000-0000-7000-8000-00000000a002, name: B}]`)
		dir := w.export()
		edit(t, dir, "groups/a.yaml", "name: A", "name: B")
		edit(t, dir, "groups/b.yaml", "name: B", "name: C")
		write(t, dir, "organization-units/top.yaml", "id: 01900000-0000-7000-8000-00000000a011\nhandle: top\nname: Top\nparentId: low\n")
		write(t, dir, "organization-units/low.yaml", "id: 01900000-0000-7000-8000-00000000a012\nhandle: low\nname: Low\n")
		plan := w.mustApply(dir, declare.Options{})
		if !strings.Contains(plan, "0 to create, 4 to change, 0 to delete\napplied") {
			t.Errorf("%s", plan)
		}
	})
}

// Resources that refer to each other can be deleted together, in any order.
func TestApplyDeletesInOrder(t *testing.T) {
	w := newFixture(t)
	w.ensure(`
organizationUnits: [{handle: a, name: A}, {handle: b, name: B, parentId: a}, {handle: c, name: C, parentId: b}]
users: [{type: Person, ouId: c, attributes: {username: eve}}]
groups: [{name: Inner, ouId: c, members: [{type: user, id: eve}]}, {name: Outer, ouId: a, members: [{type: group, id: Inner}]}]
roles: [{name: Reader, ouId: b, permissions: ["system:users:read"], assignments: [{type: group, id: Outer}]}]`)
	dir := newFixture(t).export()
	plan := w.mustApply(dir, declare.Options{Delete: true})
	if !strings.Contains(plan, "0 to create, 0 to change, 7 to delete\napplied") {
		t.Errorf("%s", plan)
	}
}

// A secret changes when its variable has another value. An unset variable leaves it
// unchanged. Secrets are never printed.
func TestApplySecrets(t *testing.T) {
	w := newFixture(t)
	dir := w.export()
	write(t, dir, "applications/shop.yaml", shop)
	write(t, dir, "applications/file.yaml", strings.NewReplacer("Shop", "File", "clientId: shop", "clientId: file", "env: SHOP", "file: ../.secrets/file").Replace(shop))
	write(t, dir, ".secrets/file", "fedcba9876543210fedcba9876543210\n")
	write(t, dir, "identity-providers/corp.yaml", "handle: corp\nname: Corp\nissuer: https://login.example.com\nclientId: postern\nclientSecret: {env: CORP}\n")
	third := []string{"CORP=0123456789abcdef"}
	first, second := []string{"CORP=the secret of corp", "SHOP=0123456789abcdef0123456789abcdef"}, []string{"SHOP=0123456789abcdef0123456789abcdeX"}
	for _, step := range []struct {
		environ []string
		want    string
	}{
		{first, "3 to create, 0 to change"}, {first, "0 to create, 0 to change"}, {nil, "0 to create, 0 to change"},
		{second, "~ application \"Shop\"  (applications/shop.yaml)\n    the secret, which is not shown\n0 to create, 1 to change"}, {second, "0 to create, 0 to change"},
		{third, "~ identity provider \"corp\"  (identity-providers/corp.yaml)\n    the secret, which is not shown\n0 to create, 1 to change"}, {third, "0 to create, 0 to change"},
	} {
		plan := w.mustApply(dir, declare.Options{Secrets: environ(step.environ...)})
		if !strings.Contains(plan, step.want) || strings.Contains(plan, "0123456789abcdef") {
			t.Errorf("with %q\n%s\nexpected %s", step.environ, plan, step.want)
		}
	}
}

// writeSecrets writes secrets to the folders tree and mounted, and links and a pipe that must not be read.
func writeSecrets(t *testing.T, top, secret string) {
	t.Helper()
	dir, mounted := filepath.Join(top, "tree"), filepath.Join(top, "mounted")
	write(t, mounted, "..2026/shop", secret+"\n")
	write(t, mounted, "plain", secret+"\n")
	write(t, top, "outside", secret)
	write(t, dir, ".secrets/inside", secret)
	write(t, dir, ".data/keys/key-encryption.key", secret)
	for path, target := range map[string]string{
		filepath.Join(mounted, "..data"): "..2026", filepath.Join(mounted, "shop"): filepath.Join("..data", "shop"), filepath.Join(mounted, "escape"): "../outside",
		filepath.Join(dir, ".secrets", "linked"): "../../outside",
	} {
		if err := os.Symlink(target, path); err != nil {
			t.Skip(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, ".secrets", "pipe"), 0o600); err != nil {
		t.Skip(err)
	}
}

// Files name secrets in their own folder, in folders that the operator names, and in variables that are not
// the program's own.
func TestSecretSources(t *testing.T) {
	const secret = "0123456789abcdef0123456789abcdef"
	w, top := newFixture(t), t.TempDir()
	dir, mounted := filepath.Join(top, "tree"), filepath.Join(top, "mounted")
	if err := declare.WriteFolder(dir, w.files(), false); err != nil {
		t.Fatal(err)
	}
	writeSecrets(t, top, secret)
	var variables []string
	for _, name := range []string{"SHOP", "POSTERN_SECRET_SHOP", "POSTERN_KEY_ENCRYPTION_KEY", "POSTERN_DATABASE_DSN", "POSTERN_SECRETS", "ADMIN_PASSWORD", "ADMIN_TOKEN", "PGPASSWORD"} {
		variables = append(variables, name+"="+secret)
	}
	from := environ(variables...)
	from.Folders, from.Private = []string{mounted}, []string{filepath.Join(dir, ".data")}
	for source, want := range map[string]string{
		"env: SHOP":                                         "",
		"env: POSTERN_SECRET_SHOP":                          "",
		"env: POSTERN_KEY_ENCRYPTION_KEY":                   "is for the program itself",
		"env: postern_key_encryption_key":                   "is for the program itself",
		"env: POSTERN_DATABASE_DSN":                         "is for the program itself",
		"env: POSTERN_SECRETS":                              "is for the program itself",
		"env: ADMIN_PASSWORD":                               "is for the program itself",
		"env: ADMIN_TOKEN":                                  "is for the program itself",
		"env: PGPASSWORD":                                   "is for the program itself",
		"file: ../.secrets/inside":                          "",
		"file: ../../outside":                               "is outside of the folder",
		"file: ../.secrets/linked":                          "is outside of the folder",
		"file: ../.secrets/pipe":                            "is a named pipe",
		"file: ../.secrets/none":                            "no such file",
		"file: ../.data/keys/key-encryption.key":            "is in the folder of the server's data",
		"file: " + filepath.Join(top, "outside"):            "is outside of the folder",
		"file: " + os.DevNull:                               "is outside of the folder",
		"file: " + filepath.Join(mounted, "shop"):           "",
		"file: " + filepath.Join(mounted, "plain"):          "",
		"file: " + filepath.Join(mounted, "escape"):         "is outside of the folder",
		"file: " + filepath.Join(dir, ".secrets", "inside"): "is outside of the folder",
	} {
		write(t, dir, "applications/shop.yaml", strings.Replace(shop, "env: SHOP", source, 1))
		_, err := w.apply(dir, declare.Options{Plan: true, Secrets: from})
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", source, err, want)
		}
		if err != nil && strings.Contains(err.Error(), secret) {
			t.Errorf("%s: the error shows the secret", source)
		}
	}
	from.Folders = nil
	write(t, dir, "applications/shop.yaml", strings.Replace(shop, "env: SHOP", "file: "+filepath.Join(mounted, "plain"), 1))
	if _, err := w.apply(dir, declare.Options{Plan: true, Secrets: from}); err == nil || !strings.Contains(err.Error(), "a folder that --secrets names") {
		t.Errorf("an absolute path without a folder: %v", err)
	}
}

// A plan names the users and applications that get administrative permissions, also through groups, and
// existing ones that a file only mentions are not among them.
func TestPlanNamesAdministrators(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		w.ensure("users: [{type: Person, attributes: {username: eve}}, {type: Person, attributes: {username: bob}}]\ngroups: [{name: Staff, members: [{type: user, id: bob}]}]")
		dir := w.export()
		edit(t, dir, "groups/administrators.yaml", "members:\n", "members:\n  - type: group\n    id: Staff\n")
		write(t, dir, "roles/reader.yaml", "name: Reader\npermissions: [\"system:users:read\"]\nassignments:\n  - {type: user, id: eve}\n  - {type: user, id: ada}\n  - {type: application, id: Robot}\n")
		write(t, dir, "applications/robot.yaml", "name: Robot\ntype: M2M\ninboundAuthConfig:\n  - {type: oauth2, config: {clientId: robot, grantTypes: [client_credentials], tokenEndpointAuthMethod: client_secret_basic, clientSecret: {env: ROBOT}}}\n")
		plan := w.mustApply(dir, declare.Options{Plan: true, Secrets: environ("ROBOT=0123456789abcdef0123456789abcdef")})
		for _, want := range []string{`! user "eve" becomes an administrator: system:users:read`, `! user "bob" becomes an administrator: system` + "\n", `! application "Robot" becomes an administrator: system:users:read`} {
			if !strings.Contains(plan, want) {
				t.Errorf("the plan lacks %s\n%s", want, plan)
			}
		}
		if strings.Contains(plan, `! user "ada"`) {
			t.Errorf("ada is an administrator already\n%s", plan)
		}
	})
}

// A password is for a new user only. Later the user owns it.
func TestApplyPasswords(t *testing.T) {
	w := newFixture(t)
	dir := w.export()
	write(t, dir, "users/eve.yaml", "type: Person\nattributes: {username: eve, password: {env: EVE}}\n")
	if _, err := w.apply(dir, declare.Options{}); err == nil || !strings.Contains(err.Error(), "EVE is not set") {
		t.Errorf("%v", err)
	}
	for range 2 {
		w.mustApply(dir, declare.Options{Secrets: environ("EVE=quiet harbour lantern")})
		u, err := w.store.UserByAttribute(t.Context(), "", "username", "eve")
		if err != nil {
			t.Fatal(err)
		}
		if password, err := w.store.Password(t.Context(), u.ID); err != nil || password.Hash != "plain:quiet harbour lantern" {
			t.Errorf("%q, %v", password.Hash, err)
		}
		if err := w.store.Apply(t.Context(), storetest.Authorized([]schemas.Change{schemas.SetPassword{UserID: u.ID, Hash: "plain:quiet harbour lantern"}})); err != nil {
			t.Fatal(err)
		}
	}
	plan := w.mustApply(dir, declare.Options{Secrets: environ("EVE=grey lantern harbour")})
	u, err := w.store.UserByAttribute(t.Context(), "", "username", "eve")
	if err != nil {
		t.Fatal(err)
	}
	if password, err := w.store.Password(t.Context(), u.ID); err != nil || password.Hash != "plain:quiet harbour lantern" || !strings.Contains(plan, "0 to change") {
		t.Errorf("%q, %v\n%s", password.Hash, err, plan)
	}
}

// Ensure creates missing resources and leaves existing ones unchanged.
func TestEnsure(t *testing.T) {
	w := newFixture(t)
	text := "groups: [{name: Administrators, description: mine}, {name: Staff, members: [{type: group, id: Administrators}, {type: user, id: ada}]}]"
	if created := w.ensure(text); len(created) != 1 || created[0] != `group "Staff"` {
		t.Errorf("created %q", created)
	}
	if created := w.ensure(text); len(created) != 0 {
		t.Errorf("created %q again", created)
	}
	item, err := w.Groups.Find(t.Context(), directory.SystemCall(), "Administrators")
	if err != nil || item.Value.(*schemas.Group).Description != "" {
		t.Errorf("%+v, %v", item, err)
	}
	for text, want := range map[string]string{
		"groups: [{name: A, ouId: defalt}]":                                      `ouId: there is no organization unit "defalt" in the files or the store; did you mean "default"?`,
		"groups: [{name: A, members: [{type: user, id: nobody}]}]":               `there is no user "nobody" in the files or the store`,
		"groups: [{name: A}, {name: A}]":                                         "declared twice",
		"users: [{type: Person, attributes: {password: {env: P}}}]":              "P is not set",
		"groups: [{id: 7, name: A}]":                                             "seed.yaml:1:15: id: expected a string",
		"groups: [{name: ''}]":                                                   "seed.yaml:1:17: name:",
		"applications: [{name: A, authFlowId: sign-up}]":                         `there is no AUTHENTICATION flow "sign-up" in the files or the store`,
		"applications: [{name: A, registrationFlowId: passkey-sign-upp}]":        `did you mean "passkey-sign-up"?`,
		"roles: [{name: A, assignments: [{type: application, id: 01900000-x}]}]": `there is no application "01900000-x"`,
	} {
		if created, err := w.tryEnsure(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: created %q, %v, expected %s", text, created, err, want)
		}
	}
}

// TestHeldExportIsPrivate: exported files are readable by their owner only and stay inside
// their folder, whatever the names of resources.
func TestHeldExportIsPrivate(t *testing.T) {
	w := newFixture(t)
	w.ensure(`groups: [{name: "../../../escaped"}, {name: "/etc/escaped"}, {name: "..\\escaped"}]`)
	around := t.TempDir()
	if err := declare.WriteFolder(filepath.Join(around, "a", "b", "export"), w.files(), false); err != nil {
		t.Fatal(err)
	}
	found := 0
	err := filepath.WalkDir(around, func(path string, d fs.DirEntry, err error) error {
		if err != nil || path == around {
			return err
		}
		info, err := d.Info()
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v, %v", path, info.Mode(), err)
		}
		inside := strings.HasPrefix(path, filepath.Join(around, "a", "b", "export"))
		if strings.Contains(d.Name(), "escaped") {
			found++
		}
		if !inside && !d.IsDir() {
			t.Errorf("%s is outside of the folder", path)
		}
		return nil
	})
	if err != nil || found != 3 {
		t.Errorf("%d groups were written, %v", found, err)
	}
}

// WriteFolder accepts an empty folder or an earlier export. It removes the files of deleted
// resources and keeps files that are no resources.
func TestWriteFolder(t *testing.T) {
	w := newFixture(t)
	w.ensure("groups: [{name: Staff}]")
	dir := w.export()
	write(t, dir, "flows/authentication/sign-in_test.yaml", "scenarios: []\n")
	write(t, dir, ".git/HEAD", "x\n")
	write(t, dir, "groups/mine.yaml", "name: mine\n")
	files := newFixture(t).files()
	if err := declare.WriteFolder(dir, files, false); err != nil {
		t.Fatal(err)
	}
	for name, stays := range map[string]bool{"groups/staff.yaml": false, "groups/mine.yaml": false, "groups/administrators.yaml": true, "flows/authentication/sign-in_test.yaml": true, ".git/HEAD": true} {
		if _, err := os.Stat(filepath.Join(dir, name)); (err == nil) != stays {
			t.Errorf("%s: %v", name, err)
		}
	}
	other := t.TempDir()
	write(t, other, "thesis.txt", "x\n")
	if err := declare.WriteFolder(other, files, false); err == nil || !strings.Contains(err.Error(), "is not empty") {
		t.Errorf("%v", err)
	}
	if err := declare.WriteFolder(other, files, true); err != nil {
		t.Fatal(err)
	}
	if err := declare.WriteFolder(filepath.Join(other, "thesis.txt"), files, true); err == nil {
		t.Error("a file was taken for a folder")
	}
}
