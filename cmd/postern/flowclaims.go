package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/flows"
	"github.com/postern-id/postern/flows/findings"
	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// claimFlags are about the applications whose claims users can set with the flows.
type claimFlags struct {
	Applications string `placeholder:"PATH" help:"A folder in the format of postern export, or a file of resources, with applications and user types: the claims that users can set with the flows are reported. Default: the folders applications and user-types next to the folder of the flows."`
	NoMail       bool   `help:"Report the claims as for a server without a mail server."`
}

// reportClaims adds the findings about claims that users can set. Those about no flow of the list are in files of
// applications, which it adds.
func (c claimFlags) reportClaims(list []findings.File) ([]findings.File, error) {
	groups := map[string][]int{} // the files by the folder of their applications
	for i := range list {
		if root := c.rootOf(list[i].Name); root != "" {
			groups[root] = append(groups[root], i)
		}
	}
	for _, root := range slices.Sorted(maps.Keys(groups)) {
		resources, err := c.readResources(root)
		if err != nil {
			return nil, err
		}
		check := newClaimCheck(!c.NoMail)
		for _, i := range groups[root] {
			check.addFlow(&list[i])
		}
		for i := range resources {
			check.addResource(&resources[i])
		}
		check.report()
		list = append(list, check.others...)
	}
	return list, nil
}

// rootOf returns the folder or file with the applications for a flow file; "" if there is none.
func (c claimFlags) rootOf(file string) string {
	if c.Applications != "" {
		return c.Applications
	}
	for _, types := range flows.UserTypeFolders(file) {
		root := filepath.Dir(types)
		if info, err := os.Stat(filepath.Join(root, applicationsFolder)); err == nil && info.IsDir() {
			return root
		}
	}
	return ""
}

// The names of the folders of applications and identity providers, as postern export writes them.
const (
	applicationsFolder = "applications"
	providersFolder    = "identity-providers"
)

// readResources reads the applications, user types and identity providers of a folder or a file. Without the flag, the folder may be for
// something else: then files that are no resources are left out.
func (c claimFlags) readResources(root string) (list []declare.Resource, err error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, fmt.Errorf("--applications: %w", err)
	}
	if !info.IsDir() {
		text, err := flows.Disk{}.ReadFile(root)
		if err != nil {
			return nil, err
		}
		return declare.ReadSeed(root, text)
	}
	for _, folder := range []string{applicationsFolder, flows.UserTypesFolder, providersFolder} {
		noun := declare.Nouns()[slices.IndexFunc(declare.Nouns(), func(n declare.Noun) bool { return n.Folder == folder })]
		entries, _ := flows.Disk{}.ReadDir(filepath.Join(root, folder)) // one that cannot be read contains none
		for _, e := range entries {
			if e.IsDir() || filepath.Ext(e.Name()) != ".yaml" {
				continue
			}
			file := filepath.Join(root, folder, e.Name())
			text, err := flows.Disk{}.ReadFile(file)
			if err != nil {
				return nil, err
			}
			r, err := declare.ReadResource(noun, file, text)
			if err != nil && c.Applications != "" {
				return nil, err
			}
			if err == nil {
				list = append(list, r)
			}
		}
	}
	return list, nil
}

// claimCheck finds the claims that users can set with the flows of files.
type claimCheck struct {
	system    claims.System
	flows     map[string]*findings.File // by id
	uses      map[string]schemas.AttributeUses
	resources map[string]*declare.Resource // of applications, by id
	others    []findings.File              // of applications
}

func newClaimCheck(sendsMail bool) *claimCheck {
	c := &claimCheck{flows: map[string]*findings.File{}, uses: map[string]schemas.AttributeUses{}, resources: map[string]*declare.Resource{}}
	person := schemas.Person()
	c.system = claims.System{
		Applications: map[string]*schemas.Application{}, Types: map[string]*schemas.UserType{person.Name: &person}, Flows: map[string]*schemas.Flow{}, Providers: map[string]*schemas.IdentityProvider{},
		Uses: func(f *schemas.Flow) schemas.AttributeUses { return c.uses[f.ID] }, SendsMail: sendsMail,
	}
	return c
}

// flowKey identifies a flow of a file.
func flowKey(t schemas.FlowType, handle string) string { return string(t) + "/" + handle }

func (c *claimCheck) addFlow(f *findings.File) {
	if f.Handle == "" || f.FlowType == schemas.Subflow {
		return
	}
	key := flowKey(f.FlowType, f.Handle)
	c.flows[key] = f
	c.register(key, f.Handle, f.Uses)
	if f.ID != "" {
		c.system.Flows[f.ID] = c.system.Flows[key]
	}
}

func (c *claimCheck) register(key, handle string, uses schemas.AttributeUses) {
	c.system.Flows[key], c.uses[key] = &schemas.Flow{ID: key, Handle: handle}, uses
}

// addResource adds an application, a user type or an identity provider.
func (c *claimCheck) addResource(r *declare.Resource) {
	switch r.Noun.Folder {
	case flows.UserTypesFolder:
		var t schemas.UserType
		if r.Document.DecodeLoosely(schemas.UserTypeSchema(), &t); t.Name != "" {
			c.system.Types[t.Name] = &t
		}
	case providersFolder:
		var p schemas.IdentityProvider
		if r.Document.DecodeLoosely(schemas.IdentityProviderSchema(), &p); p.Handle != "" {
			c.system.Providers[p.Handle] = &p
		}
	case applicationsFolder:
		var a schemas.Application
		if r.Document.DecodeLoosely(schemas.ApplicationSchema(), &a); a.Name == "" {
			return
		}
		a.ID = cmp.Or(a.ID, a.Name)
		if o := a.OAuth(); o != nil && o.Token.AccessToken.UserConfig != nil {
			o.Token.AccessToken.UserAttributes = o.Token.AccessToken.UserConfig.Attributes
		}
		a.AuthFlowID = cmp.Or(a.AuthFlowID, directory.DefaultSignIn)
		a.RegistrationFlowID = cmp.Or(a.RegistrationFlowID, directory.DefaultSignUp)
		for _, f := range a.Flows() {
			*f.ID = c.resolve(f.FlowType(), *f.ID)
		}
		c.system.Applications[a.ID], c.resources[a.ID] = &a, r
	}
}

// resolve returns the key of a flow that an application names by its id or its handle: one of the files, or a built-in
// one.
func (c *claimCheck) resolve(t schemas.FlowType, name string) string {
	if name == "" {
		return ""
	}
	if f := c.system.Flows[name]; f != nil {
		return f.ID
	}
	key := flowKey(t, name)
	if c.system.Flows[key] != nil {
		return key
	}
	builtin, _ := flows.Builtin() // its files are part of the program
	for i := range builtin {
		if f := &builtin[i]; f.FlowType == t && f.Handle == name {
			if g, _ := engine.CompileStored(f, nodes.Kinds(nodes.Deps{})); g != nil {
				c.register(key, f.Handle, g.AttributeUses())
			}
		}
	}
	return key
}

// report adds the findings to the files of flows, and to files of applications.
func (c *claimCheck) report() {
	for _, found := range c.system.Settings().All() {
		p := claims.Problem(&found)
		if f := c.flows[found.Place.FlowID]; f != nil {
			f.Findings = f.Locate(append(f.Findings, p))
			continue
		}
		p.Path, p.Node = directory.MemberOf(&found), ""
		r := c.resources[found.ApplicationID]
		i := slices.IndexFunc(c.others, func(f findings.File) bool { return f.Name == r.File })
		if i < 0 {
			text, _ := flows.Disk{}.ReadFile(r.File) // it was read before; without it, findings have no lines
			i, c.others = len(c.others), append(c.others, findings.File{Source: findings.Source{Name: r.File, Text: text}, Application: "applications"})
		}
		c.others[i].Findings = append(c.others[i].Findings, r.Document.Locate([]schemas.Problem{p})...)
	}
}
