package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/schemas"
)

// newKind returns the kind with the plural. Its resources are found by the member that identifies them
// in files.
func newKind(plural string, columns ...column) nounKind {
	noun, _ := declare.NounOf(plural)
	all := append([]column{{"ID", "id"}}, columns...)
	return nounKind{Noun: noun, by: []string{noun.Filter}, names: []string{noun.Filter}, columns: append(all, column{"CREATED", "createdAt"})}
}

// addTexts adds the members with a text.
func addTexts(members map[string]any, texts map[string]string) map[string]any {
	for name, text := range texts {
		if text != "" {
			members[name] = text
		}
	}
	return members
}

type userFlags struct{}

func (userFlags) kind() nounKind {
	k := newKind("users")
	k.by, k.names = []string{"username", "email"}, []string{"attributes.username", "attributes.email"}
	k.set, k.columns, k.details = "attributes", userColumns(), []column{{"ATTRIBUTES", "attributes"}}
	k.with = []string{"all tokens"}
	k.parts = []part{{"sessions", "", "session", "sessions"}, {"passkeys", "", "passkey", "passkeys"}, {"factors", "", "second factor", "second factors"},
		{"identities", "", "linked identity", "linked identities"}, {"access", "totalGroups", "group", "groups"}, {"access", "totalRoles", "role", "roles"}}
	return k
}

func (userFlags) members(program) (map[string]any, error) { return map[string]any{}, nil }

type clientFlags struct{}

func (clientFlags) kind() nounKind {
	k := newKind("applications")
	k.by, k.columns = []string{"clientId", "name"}, applicationColumns()
	k.details, k.with = applicationDetails(), []string{"all its tokens and consents"}
	return k
}

func (clientFlags) members(program) (map[string]any, error) { return map[string]any{}, nil }

type groupCommands struct {
	nounCommands[groupFlags]
	Members      principalListCommand[memberFlags]   `cmd:"" help:"List the members of a group."`
	AddMember    principalAddCommand[memberFlags]    `cmd:"" help:"Add users and groups to a group."`
	RemoveMember principalRemoveCommand[memberFlags] `cmd:"" help:"Remove users and groups from a group."`
}

type groupFlags struct {
	Description string `placeholder:"TEXT" help:"{{group_description}}"`
	Unit        string `placeholder:"HANDLE" help:"{{group_ouId}} Default: the default unit."`
}

func (groupFlags) kind() nounKind {
	k := newKind("groups", column{"NAME", "name"}, column{"DESCRIPTION", "description"})
	k.flags = map[string]string{"description": "--description", "ouId": "--unit"}
	k.parts = []part{{"members", "", "member", "members"}}
	return k
}

func (f groupFlags) members(program) (map[string]any, error) {
	return addTexts(map[string]any{}, map[string]string{"description": f.Description, "ouId": f.Unit}), nil
}

type roleCommands struct {
	nounCommands[roleFlags]
	Assignments principalListCommand[assigneeFlags]   `cmd:"" help:"List the users, groups and applications with a role."`
	Assign      principalAddCommand[assigneeFlags]    `cmd:"" help:"Assign a role to users, groups and applications."`
	Unassign    principalRemoveCommand[assigneeFlags] `cmd:"" help:"Remove assignments of a role."`
}

type roleFlags struct {
	Permission  []string `placeholder:"PERMISSION" help:"{{role_permissions}} It can be repeated; an update replaces all of them."`
	Description string   `placeholder:"TEXT" help:"{{role_description}}"`
	Unit        string   `placeholder:"HANDLE" help:"{{role_ouId}} Default: the default unit."`
}

func (roleFlags) kind() nounKind {
	k := newKind("roles", column{"NAME", "name"}, column{"PERMISSIONS", "permissions"})
	k.flags = map[string]string{"description": "--description", "ouId": "--unit", "permissions": "--permission"}
	k.details, k.parts = []column{{"DESCRIPTION", "description"}}, []part{{"assignments", "", "assignment", "assignments"}}
	return k
}

func (f roleFlags) members(program) (map[string]any, error) {
	members := map[string]any{}
	if f.Permission != nil {
		members["permissions"] = f.Permission
	}
	return addTexts(members, map[string]string{"description": f.Description, "ouId": f.Unit}), nil
}

type providerCommands struct {
	nounCommands[providerFlags]
}

type providerFlags struct {
	Name       string   `name:"name" placeholder:"TEXT" help:"{{identity_provider_name}}"`
	Issuer     string   `placeholder:"URL" help:"The issuer, exactly as in the metadata of the provider. It cannot be changed."`
	ClientID   string   `name:"client-id" placeholder:"TEXT" help:"{{identity_provider_clientId}}"`
	SecretFile string   `type:"path" placeholder:"FILE" help:"A file with the client secret of this server at the provider; - for standard input."`
	Scope      []string `placeholder:"SCOPE" help:"{{identity_provider_scopes}} It can be repeated; an update replaces all of them. Default: openid, profile and email."`
	Mapping    string   `type:"path" placeholder:"FILE" help:"A file with the mapping of claims to attributes and groups, in YAML or JSON; - for standard input. An update replaces the mapping."`
}

func (providerFlags) kind() nounKind {
	k := newKind("identityProviders", column{"HANDLE", "handle"}, column{"NAME", "name"}, column{"ISSUER", "issuer"}, column{"CLIENT ID", "clientId"})
	k.flags = map[string]string{"name": "--name", "issuer": "--issuer", "clientId": "--client-id", "clientSecret": "--secret-file", "scopes": "--scope", "mapping": "--mapping"}
	k.details = []column{{"SCOPES", "scopes"}, {"AUTHENTICATION", "tokenEndpointAuthMethod"}, {"MAPPING", "mapping"}}
	return k
}

func (f providerFlags) members(p program) (map[string]any, error) {
	members := map[string]any{}
	if f.Scope != nil {
		members["scopes"] = f.Scope
	}
	if f.SecretFile != "" {
		text, err := p.readNamed(f.SecretFile)
		if err != nil {
			return nil, err
		}
		members["clientSecret"] = strings.TrimRight(string(text), "\r\n")
	}
	if f.Mapping != "" {
		mapping, err := f.readMapping(p)
		if err != nil {
			return nil, err
		}
		members["mapping"] = mapping
	}
	return addTexts(members, map[string]string{"name": f.Name, "issuer": f.Issuer, "clientId": f.ClientID}), nil
}

// readMapping returns the mapping in a file, which the server checks.
func (f providerFlags) readMapping(p program) (json.RawMessage, error) {
	text, err := p.readNamed(f.Mapping)
	if err != nil {
		return nil, err
	}
	doc, problems := schemas.ParseYAML(text)
	if len(problems) > 0 {
		return nil, fmt.Errorf("%s: %s", f.Mapping, problems[0])
	}
	return doc.JSON(), nil
}

type unitCommands struct{ nounCommands[unitFlags] }

type unitFlags struct {
	Name        string `name:"name" placeholder:"TEXT" help:"{{organization_unit_name}}"`
	Description string `placeholder:"TEXT" help:"{{organization_unit_description}}"`
	Parent      string `placeholder:"HANDLE" help:"{{organization_unit_parentId}} Default: none."`
}

func (unitFlags) kind() nounKind {
	k := newKind("organizationUnits", column{"HANDLE", "handle"}, column{"NAME", "name"}, column{"PARENT", "parentId"})
	k.flags = map[string]string{"name": "--name", "description": "--description", "parentId": "--parent"}
	k.details = []column{{"DESCRIPTION", "description"}, {"LOGO", "logoUrl"}}
	return k
}

func (f unitFlags) members(program) (map[string]any, error) {
	return addTexts(map[string]any{}, map[string]string{"name": f.Name, "description": f.Description, "parentId": f.Parent}), nil
}

type userTypeCommands struct{ nounCommands[userTypeFlags] }

type userTypeFlags struct {
	Description string `placeholder:"TEXT" help:"{{user_type_description}}"`
	Unit        string `placeholder:"HANDLE" help:"{{user_type_ouId}} Default: the default unit."`
}

func (userTypeFlags) kind() nounKind {
	k := newKind("userTypes", column{"NAME", "name"}, column{"DESCRIPTION", "description"})
	k.flags = map[string]string{"description": "--description", "ouId": "--unit"}
	k.details = []column{{"IDENTIFIERS", "identifierScope"}, {"SCHEMA", "schema"}}
	return k
}

func (f userTypeFlags) members(program) (map[string]any, error) {
	return addTexts(map[string]any{}, map[string]string{"description": f.Description, "ouId": f.Unit}), nil
}

type resourceServerCommands struct {
	nounCommands[resourceServerFlags]
}

type resourceServerFlags struct {
	Name        string `name:"name" placeholder:"TEXT" help:"{{resource_server_name}}"`
	Identifier  string `placeholder:"URI" help:"{{resource_server_identifier}}"`
	Description string `placeholder:"TEXT" help:"{{resource_server_description}}"`
	Unit        string `placeholder:"HANDLE" help:"{{resource_server_ouId}} Default: the default unit."`
}

func (resourceServerFlags) kind() nounKind {
	k := newKind("resourceServers", column{"HANDLE", "handle"}, column{"NAME", "name"}, column{"IDENTIFIER", "identifier"})
	k.flags = map[string]string{"description": "--description", "ouId": "--unit", "name": "--name", "identifier": "--identifier"}
	k.details = []column{{"DESCRIPTION", "description"}, {"PERMISSIONS", "permissions"}}
	return k
}

func (f resourceServerFlags) members(program) (map[string]any, error) {
	return addTexts(map[string]any{}, map[string]string{"name": f.Name, "identifier": f.Identifier, "description": f.Description, "ouId": f.Unit}), nil
}
