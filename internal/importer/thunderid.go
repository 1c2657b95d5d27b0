package importer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/postern-id/postern/internal/folder"
)

// thunderID is a folder with declarative resources, one or more YAML documents in a file, and flow
// definitions in JSON. Folders below it name the type of what they have.
type thunderID struct {
	Options
	documents []thunderDocument
}

// thunderDocument is a resource. Names of members are compared without case and _.
type thunderDocument struct {
	kind, place string
	members     map[string]any
}

func openThunderID(dir string, o Options) (Source, error) {
	s := &thunderID{Options: o}
	files, err := s.filesBelow(dir)
	for _, path := range files {
		text, err := readFile(path)
		if err != nil {
			return nil, err
		}
		if err := s.read(text, filepath.Base(filepath.Dir(path)), filepath.Base(path)); err != nil {
			return nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
	}
	if err == nil && len(s.documents) == 0 {
		err = fmt.Errorf("%s has no resources: expected declarative resources in YAML, and flows in JSON", dir)
	}
	return s, err
}

// filesBelow lists the files of an export, which may be its only one.
func (s *thunderID) filesBelow(path string) ([]string, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return []string{path}, err
	}
	return folder.Find(path, func(name string) bool { return slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(name)) }, nil)
}

// read reads the documents of a file. JSON is YAML.
func (s *thunderID) read(text []byte, folder, file string) error {
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		var v any
		err := d.Decode(&node)
		if err == nil {
			err = node.Decode(&v)
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil && len(templateNames(text)) > 0 {
			return fmt.Errorf("it has templates (%s), which ThunderID fills in when it starts: replace each by its value, for example with sed, and import the result", strings.Join(templateNames(text), ", "))
		} else if err != nil {
			return errors.New("it is not valid YAML or JSON") // the error could quote a secret
		}
		list, isList := v.([]any)
		if !isList {
			list = []any{v}
		}
		nodes := itemsOf(&node, isList)
		for j, item := range list {
			members, ok := item.(map[string]any)
			if !ok {
				continue
			}
			doc := thunderDocument{members: members, place: place(file, fmt.Sprintf("%d:%d", nodes[j].Line, nodes[j].Column), "")}
			doc.kind = kindOf(firstText(doc.text("resource_type"), doc.text("resourceType"), folder))
			if shape := doc.shape(); shape != "" && !isThunderKind(doc.kind) {
				doc.kind = shape
			}
			s.documents = append(s.documents, doc)
		}
	}
}

// itemsOf returns the nodes of a document: its items if it is a list.
func itemsOf(document *yaml.Node, isList bool) []*yaml.Node {
	if len(document.Content) == 1 && document.Kind == yaml.DocumentNode {
		document = document.Content[0]
	}
	if isList {
		return document.Content
	}
	return []*yaml.Node{document}
}

// template is a place that ThunderID fills in.
var template = regexp.MustCompile(`\{\{-?[^}]*?\.(\w+)[^}]*\}\}`)

// templateNames returns the names of the variables of templates, each once.
func templateNames(text []byte) (names []string) {
	for _, m := range template.FindAllSubmatch(text, -1) {
		if name := string(m[1]); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// isThunderKind reports whether a folder names the type of its resources.
func isThunderKind(kind string) bool {
	return slices.Contains([]string{"application", "group", "role", "flow", "user", "usertype", "userschema", "organizationunit", "resourceserver", "identityprovider", "notificationsender", "theme", "layout", "translation"}, kind)
}

// shape returns the type of a resource by its members, "" if they do not show it. Files in one flat folder have no
// other sign.
func (d thunderDocument) shape() string {
	has := func(name string) bool { return d.get(name) != nil }
	switch {
	case has("flowType") && has("nodes"):
		return "flow"
	case has("inboundAuthConfig"):
		return "application"
	case has("attributes") && !has("schema"):
		return "user"
	case has("assignments") || has("permissions"):
		return "role"
	case has("members"):
		return "group"
	}
	return ""
}

// kindOf returns the type of a resource in the singular: "user_types" is "usertype".
func kindOf(name string) string {
	name = plainName(name)
	if name == "identities" {
		return name
	}
	return strings.TrimSuffix(name, "s")
}

func plainName(name string) string {
	return strings.NewReplacer("_", "", "-", "", " ", "").Replace(strings.ToLower(name))
}

func (d thunderDocument) get(name string) any { return member(d.members, name) }

// member returns a member of an object, in whichever spelling.
func member(object map[string]any, name string) any {
	for key, value := range object {
		if plainName(key) == plainName(name) {
			return value
		}
	}
	return nil
}

func (d thunderDocument) text(name string) string { return textOf(d.get(name)) }

func textOf(v any) string { text, _ := v.(string); return text }

// textsOf returns the texts of a list.
func textsOf(v any) (texts []string) {
	list, _ := v.([]any)
	for _, item := range list {
		if text := textOf(item); text != "" {
			texts = append(texts, text)
		}
	}
	return texts
}

// objectsOf returns the objects of a list.
func objectsOf(v any) (objects []map[string]any) {
	list, _ := v.([]any)
	for _, item := range list {
		if object, ok := item.(map[string]any); ok {
			objects = append(objects, object)
		}
	}
	return objects
}

func (s *thunderID) idOf(noun, foreign string) string {
	return idOf("thunderid", s.Name, noun, foreign)
}

// Resources implements Source.
func (s *thunderID) Resources(r *Report) (*Resources, error) {
	content := &Resources{Name: s.Name, Flows: map[string][]byte{}}
	for _, kind := range []string{"application", "group", "role", "flow"} {
		for _, d := range s.documents {
			if d.kind == kind {
				s.add(content, r, d)
			}
		}
	}
	for _, d := range s.documents {
		if !slices.Contains([]string{"application", "group", "role", "flow", "user"}, d.kind) {
			r.add("other resources", d.place, fmt.Sprintf("resources of the type %.40q are not imported", d.kind), "create them by hand; postern apply reads them from files (docs/declarative.md)")
		}
	}
	return content, nil
}

func (s *thunderID) add(content *Resources, r *Report, d thunderDocument) {
	name := firstText(d.text("name"), d.text("handle"))
	id := s.idOf(d.kind, firstText(d.text("id"), name))
	switch d.kind {
	case "application":
		s.addClient(content, r, d, id, name)
	case "group":
		s.reportMembers(r, "group", d, name, nil)
		content.List = append(content.List, Resource{Plural: "groups", Key: id, Place: d.place, ForeignID: d.text("id"), Content: map[string]any{
			"id": id, "name": name, "description": d.text("description"), "members": []any{}}})
		for _, m := range objectsOf(d.get("members")) {
			if kind := textOf(member(m, "type")); kind != "user" {
				r.add("groups", d.place, "members that are no users are not imported", "add them to the group by hand")
			}
		}
	case "role":
		s.reportMembers(r, "role", d, name, nil)
		if d.get("permissions") != nil {
			r.add("roles", d.place, "the permissions of the role are not imported", "create the resource servers, and grant their permissions with the role")
		}
		content.List = append(content.List, Resource{Plural: "roles", Key: id, Place: d.place, ForeignID: d.text("id"), Content: map[string]any{
			"id": id, "name": name, "description": d.text("description")}})
	case "flow":
		file := slug(firstText(d.text("handle"), name)) + ".yaml"
		if text := translateThunderFlow(r, d); text != nil {
			content.Flows[file] = text
		}
	}
}

func (s *thunderID) addClient(content *Resources, r *Report, d thunderDocument, id, name string) {
	for _, protocol := range objectsOf(d.get("inboundAuthConfig")) {
		config, _ := firstOf(member(protocol, "config"), member(protocol, "oauthAppConfig")).(map[string]any)
		if config == nil {
			continue
		}
		grants := textsOf(member(config, "grantTypes"))
		secret := textOf(member(config, "clientSecret"))
		if strings.Contains(secret, "{{") {
			secret = "" // below: the client gets a new one
		}
		method := textOf(member(config, "tokenEndpointAuthMethod"))
		c := client{id: id, foreignID: d.text("id"), clientID: textOf(member(config, "clientId")), name: name, description: d.text("description"), place: d.place, url: d.text("url"),
			public: member(config, "publicClient") == true || method == "none", secret: secret, redirects: textsOf(member(config, "redirectUris")),
			users: len(grants) == 0 || slices.Contains(grants, "authorization_code"), service: slices.Contains(grants, "client_credentials"), refresh: slices.Contains(grants, "refresh_token")}
		c.singlePage, c.pkce = allWeb(c.redirects), member(config, "pkceRequired") == true
		s.reportMembers(r, "application", d, c.clientID, config)
		s.setClaims(r, &c, d, config)
		if c.clientID == "" || strings.Contains(c.clientID, "{{") {
			r.add("clients", d.place, "the export has no client id", "create the application by hand")
			return
		}
		c.add(content, r)
		return
	}
	r.add("clients", d.place, "the application is no OAuth client", "create it by hand, if it runs flows itself (docs/runs.md)")
}

// thunderMembers are the members of resources that are imported, or that say nothing that could be lost.
func thunderMembers() map[string][]string {
	return map[string][]string{
		"application": {"id", "name", "handle", "description", "url", "inboundAuthConfig", "assertion", "resourceType", "type"},
		"config":      {"clientId", "clientSecret", "redirectUris", "grantTypes", "responseTypes", "tokenEndpointAuthMethod", "publicClient", "pkceRequired", "scopes", "scopeClaims", "token", "userInfo"},
		"group":       {"id", "name", "description", "members", "resourceType"},
		"role":        {"id", "name", "description", "permissions", "assignments", "resourceType"},
		"user":        {"id", "type", "attributes", "credentials", "resourceType"},
	}
}

// reportMembers reports the members of a resource, and of a client's configuration, that are not imported, and
// the templates that are left.
func (s *thunderID) reportMembers(r *Report, kind string, d thunderDocument, key string, config map[string]any) {
	for _, part := range []struct {
		table, path string
		members     map[string]any
	}{{kind, kind, d.members}, {"config", kind + ".inboundAuthConfig.config", config}} {
		known := thunderMembers()[part.table]
		for _, name := range slices.Sorted(maps.Keys(part.members)) {
			read := slices.ContainsFunc(known, func(k string) bool { return plainName(k) == plainName(name) })
			if !read && !isEmpty(part.members[name]) {
				r.add("members that are not read", kind+" "+key, part.path+"."+name, "")
			}
		}
	}
	if text, err := json.Marshal(d.members); err == nil {
		for _, name := range templateNames(text) {
			r.add("templates", kind+" "+key, fmt.Sprintf("the template %.60q is not filled in", "{{."+name+"}}"), "replace it by its value, for example with sed, and import the result")
		}
	}
}

func firstOf(values ...any) any {
	for _, v := range values {
		if v != nil {
			return v
		}
	}
	return nil
}

// Users implements Source.
func (s *thunderID) Users(r *Report, each func(*User) error) error {
	groups, roles := s.members("group", "members"), s.members("role", "assignments")
	for _, d := range s.documents {
		if d.kind != "user" {
			continue
		}
		attributes, _ := d.get("attributes").(map[string]any)
		foreign := firstText(d.text("id"), textOf(attributes["username"]), textOf(attributes["email"]))
		u := &User{ForeignID: foreign, ID: s.idOf("user", foreign), Place: d.place, Attributes: map[string]any{}, Others: map[string]any{}, Groups: groups[foreign], Roles: roles[foreign]}
		for name, value := range attributes {
			if name != "password" && name != "pin" && name != "secret" {
				u.Attributes[thunderClaim(name)] = value
			}
		}
		addName(u.Attributes)
		nameUser(u.Attributes)
		s.reportMembers(r, "user", d, foreign, nil)
		if credentials, ok := d.get("credentials").(map[string]any); ok {
			u.PlainPassword = textOf(member(credentials, "password"))
		}
		if u.PlainPassword != "" {
			if err := each(u); err != nil {
				return err
			}
			continue
		}
		r.add("passwords", d.place, "declarative resources contain no password hashes that can be verified, and no passkeys", noPassword)
		if err := each(u); err != nil {
			return err
		}
	}
	return nil
}

// thunderClaim returns the standard claim for an attribute.
func thunderClaim(name string) string {
	claims := map[string]string{"firstName": "given_name", "givenName": "given_name", "lastName": "family_name", "familyName": "family_name",
		"mobileNumber": "phone_number", "phoneNumber": "phone_number", "emailVerified": "email_verified"}
	return firstText(claims[name], name)
}

// members returns the keys of the resources that each user is a member of.
func (s *thunderID) members(kind, list string) map[string][]string {
	of := map[string][]string{}
	for _, d := range s.documents {
		if d.kind != kind {
			continue
		}
		key := s.idOf(kind, firstText(d.text("id"), d.text("name")))
		for _, m := range objectsOf(d.get(list)) {
			if id := textOf(member(m, "id")); id != "" && firstText(textOf(member(m, "type")), "user") == "user" {
				of[id] = append(of[id], key)
			}
		}
	}
	return of
}

// thunderNodes decodes the nodes of a flow.
func thunderNodes(v any) (nodes []thunderNode, err error) {
	text, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(text, &nodes)
	}
	return nodes, err
}
