package importer

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/password"
)

// auth0 is a folder with the files of a tenant:
//
//   - *.ndjson or *.json with users, one a line or in a list: the user export, the export of
//     password hashes and that of MFA factors. Lines about the same user_id are joined.
//   - clients.json, roles.json and organizations.json of the Management API or the Deploy CLI.
type auth0 struct {
	Options
	users   []string // the files with users
	others  []string // the files with more about users: hashes and factors
	clients []auth0Client
	roles   []auth0Role
	extra   map[string]*auth0User // what others have, by user_id
	skipped []string              // files of things that are not imported
}

type auth0Client struct {
	ID         string   `json:"client_id"`
	Name       string   `json:"name"`
	Summary    string   `json:"description"`
	Type       string   `json:"app_type"` // native, spa, regular_web or non_interactive
	Secret     string   `json:"client_secret"`
	Callbacks  []string `json:"callbacks"`
	Logouts    []string `json:"allowed_logout_urls"`
	Grants     []string `json:"grant_types"`
	AuthMethod string   `json:"token_endpoint_auth_method"`
	Global     bool     `json:"global"`
	FirstParty *bool    `json:"is_first_party"`
}

type auth0Role struct {
	ID          string `json:"id"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// auth0User has the members of all files about users. The export of hashes has the user's ID as _id.$oid.
type auth0User struct {
	UserID string `json:"user_id"`
	Object struct {
		ID string `json:"$oid"`
	} `json:"_id"`
	Username      string          `json:"username"`
	Email         string          `json:"email"`
	EmailVerified any             `json:"email_verified"`
	Phone         string          `json:"phone_number"`
	PhoneVerified any             `json:"phone_verified"`
	GivenName     string          `json:"given_name"`
	FamilyName    string          `json:"family_name"`
	Name          string          `json:"name"`
	Nickname      string          `json:"nickname"`
	Picture       string          `json:"picture"`
	Blocked       any             `json:"blocked"`
	Created       string          `json:"created_at"`
	Identities    []auth0Identity `json:"identities"`
	UserMetadata  map[string]any  `json:"user_metadata"`
	AppMetadata   map[string]any  `json:"app_metadata"`
	Roles         []string        `json:"roles"` // the names or the IDs

	Hash    string            `json:"passwordHash"`
	HashToo string            `json:"password_hash"`
	Custom  *auth0CustomHash  `json:"custom_password_hash"`
	Factors []auth0MFAFactors `json:"mfa_factors"`
}

type auth0Identity struct {
	Provider   string `json:"provider"`
	Connection string `json:"connection"`
	UserID     any    `json:"user_id"`
	Social     bool   `json:"isSocial"`
}

type auth0MFAFactors struct {
	TOTP *struct {
		Secret string `json:"secret"`
	} `json:"totp"`
	Phone *struct{} `json:"phone"`
	Email *struct{} `json:"email"`
}

func openAuth0(dir string, o Options) (Source, error) {
	a := &auth0{Options: o, extra: map[string]*auth0User{}}
	files, err := filesIn(dir, "*.json", "*.ndjson", "*.jsonl")
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		name := filepath.Base(file)
		switch {
		case len(files) > 1 && name == "clients.json":
			err = readList(file, "clients", &a.clients)
		case len(files) > 1 && name == "roles.json":
			err = readList(file, "roles", &a.roles)
		case slices.Contains([]string{"actions.json", "rules.json", "hooks.json", "connections.json", "organizations.json", "resource-servers.json"}, name):
			a.skipped = append(a.skipped, strings.TrimSuffix(name, ".json"))
		default:
			err = a.addUsers(file)
		}
		if err != nil {
			return nil, err
		}
	}
	if len(a.users) == 0 {
		return nil, fmt.Errorf("%s has no file with users: expected the user export in NDJSON, with a user_id on each line", dir)
	}
	return a, nil
}

// readList reads a list, which may be a member of an object, as in replies of the API.
func readList[T any](file, member string, into *[]T) error {
	text, err := readFile(file)
	if err != nil {
		return err
	}
	var object map[string]json.RawMessage
	if json.Unmarshal(text, &object) == nil {
		text = object[member]
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("%s: expected a list of %s: %w", filepath.Base(file), member, withoutValue(err))
	}
	return nil
}

// addUsers finds out what a file has about users: the file of the users has their identities or
// their user_id with a provider and no hashes or factors only.
func (a *auth0) addUsers(file string) error {
	var first *auth0User
	err := withFile(file, func(r *positions) error {
		return eachLine(r, records[auth0User]{report: NewReport(nil)}, func(_ string, u *auth0User) error { // Users reports malformed ones
			first = u
			return errEnough
		})
	})
	if err != nil && !errors.Is(err, errEnough) || first == nil {
		return err
	}
	if first.Object.ID == "" && (first.Created != "" || len(first.Identities) > 0 || first.Name != "" || first.Email != "" && first.Factors == nil) {
		a.users = append(a.users, file)
		return nil
	}
	a.others = append(a.others, file)
	return withFile(file, func(r *positions) error {
		return eachLine(r, records[auth0User]{}, func(_ string, u *auth0User) error {
			id := auth0Key(u)
			known := a.extra[id]
			if known == nil {
				known = &auth0User{}
				a.extra[id] = known
			}
			if hash := firstText(u.Hash, u.HashToo); hash != "" {
				known.Hash = hash
			}
			if u.Custom != nil {
				known.Custom = u.Custom
			}
			known.Factors = append(known.Factors, u.Factors...)
			return nil
		})
	})
}

// auth0Key returns the ID of a user without the provider.
func auth0Key(u *auth0User) string {
	return strings.TrimPrefix(firstText(u.UserID, u.Object.ID), "auth0|")
}

func firstText(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

var errEnough = errors.New("enough was read")

// eachLine reads JSON values, one after the other or in a list. A malformed one is left out, and reported if
// there is a report.
func eachLine[T any](r io.Reader, in records[T], each func(at string, v *T) error) error {
	b := bufio.NewReaderSize(r, 1<<20)
	start, err := b.Peek(64)
	if len(start) == 0 && errors.Is(err, io.EOF) {
		return nil
	}
	d := json.NewDecoder(b)
	if bytes.HasPrefix(bytes.TrimSpace(start), []byte("[")) {
		return in.each(d, each)
	}
	for i := 0; ; i++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return fmt.Errorf("line %d: %w", i+1, err)
		}
		if err := in.one(in.position(d, raw), raw, each); err != nil {
			return err
		}
	}
}

// Resources implements Source.
func (a *auth0) Resources(r *Report) (*Resources, error) {
	content := &Resources{Name: a.Name}
	for _, c := range a.clients {
		if !c.Global {
			a.addClient(content, r, c)
		}
	}
	for _, role := range a.roles {
		content.List = append(content.List, Resource{Plural: "roles", Key: role.ID, Place: "role " + role.Name, ForeignID: role.ID, Content: map[string]any{
			"id": idOf("auth0", a.Name, "role", role.ID), "name": role.Name, "description": role.Description,
		}})
		r.add("roles", "role "+role.Name, "the permissions of the role are not imported", "create a resource server with the permissions, and grant them with the role")
	}
	fixes := map[string]string{
		"actions": "use decision and http-request nodes in a flow (docs/services.md)", "rules": "use decision and http-request nodes in a flow (docs/services.md)",
		"hooks": "use http-request nodes in a flow (docs/services.md)", "connections": "create identity providers before the import (docs/federation.md)",
		"organizations": "use organization units and groups", "resource-servers": "create resource servers with the permissions",
	}
	for _, name := range a.skipped {
		r.add(name, name+".json", "the "+name+" are not imported", fixes[name])
	}
	return content, nil
}

func (a *auth0) addClient(content *Resources, r *Report, in auth0Client) {
	place := "client " + in.Name
	has := func(grant string) bool { return slices.Contains(in.Grants, grant) }
	for _, grant := range in.Grants {
		if !slices.Contains([]string{"authorization_code", "refresh_token", "client_credentials"}, grant) {
			r.add("clients", place, fmt.Sprintf("the grant %.60q does not exist", grant), "let the application use the authorization code with PKCE")
		}
	}
	c := client{id: idOf("auth0", a.Name, "application", in.ID), clientID: in.ID, name: firstText(in.Name, in.ID), description: in.Summary, place: place,
		public: in.AuthMethod == "none" || in.Type == "spa" || in.Type == "native", singlePage: in.Type == "spa", secret: in.Secret,
		users: has("authorization_code") || len(in.Grants) == 0 && in.Type != "non_interactive", service: has("client_credentials") || in.Type == "non_interactive",
		refresh: has("refresh_token"), redirects: in.Callbacks, logouts: in.Logouts, consent: in.FirstParty != nil && !*in.FirstParty}
	if !c.users && (!c.service || c.public) {
		r.add("clients", place, "the client has no grant that is supported", "let the application use the authorization code")
		return
	}
	c.add(content, r)
}

// Users implements Source.
func (a *auth0) Users(r *Report, each func(*User) error) error {
	byName := map[string]string{} // role IDs
	for _, role := range a.roles {
		byName[role.Name], byName[role.ID] = role.ID, role.ID
	}
	for _, file := range a.users {
		users := records[auth0User]{report: r, subject: "users", file: file, path: "users", unread: unreadMembers{r, []string{"users.updated_at", "users.last_login", "users.last_ip", "users.logins_count", "users.last_password_reset", "users.user_metadata", "users.app_metadata", "users.identities.profileData", "users.identities.isSocial", "users.email_verified"}}}
		err := withFile(file, func(in *positions) error {
			users.in = in.track()
			return eachLine(in, users, func(at string, u *auth0User) error {
				out := a.user(r, u, place(file, at, u.UserID))
				for _, role := range u.Roles {
					out.Roles = append(out.Roles, firstText(byName[role], role))
				}
				return each(out)
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (a *auth0) user(r *Report, in *auth0User, at string) *User {
	u := &User{ForeignID: in.UserID, ID: idOf("auth0", a.Name, "user", in.UserID), Place: at, Attributes: map[string]any{}, Others: map[string]any{}, Disabled: isTrue(in.Blocked)}
	u.CreatedAt, _ = time.Parse(time.RFC3339, in.Created)
	for name, text := range map[string]string{"username": in.Username, "email": in.Email, "given_name": in.GivenName, "family_name": in.FamilyName,
		"name": in.Name, "nickname": in.Nickname, "picture": in.Picture, "phone_number": in.Phone} {
		setText(u.Attributes, name, text)
	}
	if isTrue(in.EmailVerified) && in.Email != "" {
		u.Attributes["email_verified"] = true
	}
	if isTrue(in.PhoneVerified) && in.Phone != "" {
		u.Attributes["phone_number_verified"] = true
	}
	for _, metadata := range []map[string]any{in.AppMetadata, in.UserMetadata} {
		for name, value := range metadata {
			u.Others[name] = value
		}
	}
	nameUser(u.Attributes)
	for _, identity := range in.Identities {
		if identity.Provider != "auth0" {
			u.Identities = append(u.Identities, Identity{Provider: slug(firstText(identity.Connection, identity.Provider)), Subject: fmt.Sprint(identity.UserID), Name: in.Email})
		}
	}
	hasPassword := strings.HasPrefix(in.UserID, "auth0|") || len(in.Identities) == 0
	for _, of := range []*auth0User{a.extra[auth0Key(in)], in} {
		if of != nil {
			a.addCredentials(r, u, of)
		}
	}
	if u.Password == "" && hasPassword {
		r.add("passwords", at, "there is no password hash of the user", "ask Auth0's support for the export of the password hashes; otherwise "+noPassword)
	}
	return u
}

func (a *auth0) addCredentials(r *Report, u *User, of *auth0User) {
	if hash := firstText(of.Hash, of.HashToo); hash != "" {
		u.Password = hashText(r, u.Place, password.Imported{Scheme: password.Bcrypt, Text: hash})
	}
	if of.Custom != nil && u.Password == "" {
		h, err := of.Custom.imported()
		if err != nil {
			r.add("passwords", u.Place, "the custom password hash cannot be verified: "+err.Error(), noPassword)
		} else {
			u.Password = hashText(r, u.Place, h)
		}
	}
	for _, factor := range of.Factors {
		if factor.TOTP != nil && u.TOTP == nil {
			u.TOTP = totpKey(r, u.Place, factor.TOTP.Secret, "", 0, 0)
		}
		if factor.Phone != nil || factor.Email != nil {
			r.add("second factors", u.Place, "codes by SMS or mail are not imported as a second factor", newApp)
		}
	}
}

// isTrue reports whether a value is true, which some exports write as a text.
func isTrue(v any) bool { return v == true || v == "true" }
