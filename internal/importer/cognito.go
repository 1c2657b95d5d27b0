package importer

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// cognito is a folder with the users of a pool, and perhaps its clients and groups: the output of
// `aws cognito-idp list-users`, describe-user-pool-client and list-groups; or a CSV file with the header
// of get-csv-header.
type cognito struct {
	Options
	files   []string
	clients []cognitoClient
	groups  []cognitoGroup
}

type cognitoClient struct {
	ID        string   `json:"ClientId"`
	Name      string   `json:"ClientName"`
	Secret    string   `json:"ClientSecret"`
	Callbacks []string `json:"CallbackURLs"`
	Logouts   []string `json:"LogoutURLs"`
	Flows     []string `json:"AllowedOAuthFlows"` // code, implicit, client_credentials
}

type cognitoGroup struct {
	Name        string `json:"GroupName"`
	Description string `json:"Description"`
}

// cognitoUser is a user of list-users.
type cognitoUser struct {
	Username   string `json:"Username"`
	Attributes []struct {
		Name  string `json:"Name"`
		Value string `json:"Value"`
	} `json:"Attributes"`
	Created any      `json:"UserCreateDate"` // a text, or seconds
	Enabled *bool    `json:"Enabled"`
	Status  string   `json:"UserStatus"`
	Groups  []string `json:"Groups"` // of a file that you have made: list-users has none
}

func openCognito(dir string, o Options) (Source, error) {
	files, err := filesIn(dir, "*.json", "*.csv")
	if err != nil {
		return nil, err
	}
	c := &cognito{Options: o}
	for _, file := range files {
		users, err := c.readPool(file)
		if err != nil {
			return nil, err
		}
		if users {
			c.files = append(c.files, file)
		}
	}
	if len(c.files) == 0 {
		return nil, fmt.Errorf("%s has no users: expected the output of `aws cognito-idp list-users` in JSON, or CSV with a header", dir)
	}
	return c, nil
}

// readPool reads clients and groups, and reports whether a file has users.
func (c *cognito) readPool(file string) (users bool, err error) {
	if strings.HasSuffix(file, ".csv") {
		return true, nil
	}
	err = withFile(file, func(r *positions) error {
		d := newDecoder(r)
		return eachMember(d, func(name string) error {
			switch name {
			case "UserPoolClient":
				var one cognitoClient
				err := d.Decode(&one)
				c.clients = append(c.clients, one)
				return withoutValue(err)
			case "Groups":
				return records[cognitoGroup]{}.each(d, func(_ string, g *cognitoGroup) error {
					c.groups = append(c.groups, *g)
					return nil
				})
			}
			users = users || name == "Users"
			return skipValue(d)
		})
	})
	return users, err
}

// Resources implements Source.
func (c *cognito) Resources(r *Report) (*Resources, error) {
	content := &Resources{Name: c.Name}
	r.add("passwords", "", "Cognito exports no password hashes, secrets of authenticator apps or passkeys",
		"users set a new password with a recovery flow (forgotten-password), or at the first sign-in after a mailed code (docs/migration.md)")
	for _, g := range c.groups {
		content.List = append(content.List, Resource{Plural: "groups", Key: g.Name, Place: "group " + g.Name, Content: map[string]any{
			"id": idOf("cognito", c.Name, "group", g.Name), "name": g.Name, "description": g.Description, "members": []any{}}})
	}
	for _, in := range c.clients {
		uses := func(flow string) bool {
			for _, f := range in.Flows {
				if f == flow {
					return true
				}
			}
			return false
		}
		if uses("implicit") {
			r.add("clients", "client "+in.Name, "the implicit grant does not exist: OAuth 2.1 has removed it", "let the application use the authorization code with PKCE")
		}
		out := client{id: idOf("cognito", c.Name, "application", in.ID), clientID: in.ID, name: firstText(in.Name, in.ID), place: "client " + in.Name,
			public: in.Secret == "", singlePage: allWeb(in.Callbacks), secret: in.Secret, users: !uses("client_credentials"), service: uses("client_credentials"),
			refresh: true, redirects: in.Callbacks, logouts: in.Logouts}
		out.add(content, r)
	}
	return content, nil
}

// Users implements Source.
func (c *cognito) Users(r *Report, each func(*User) error) error {
	for _, file := range c.files {
		err := withFile(file, func(in *positions) error {
			in.track()
			if strings.HasSuffix(file, ".csv") {
				return c.readCSV(in, func(at string, u *cognitoUser) error { return each(c.user(r, u, place(file, at, ""))) })
			}
			d := newDecoder(in)
			return eachMember(d, func(name string) error {
				if name != "Users" {
					return skipValue(d)
				}
				users := records[cognitoUser]{report: r, subject: "users", file: file, in: in, path: "users", unread: unreadMembers{r, []string{"users.UserLastModifiedDate", "users.UserStatus"}}}
				return users.each(d, func(at string, u *cognitoUser) error { return each(c.user(r, u, place(file, at, ""))) })
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readCSV reads a file whose header names the attributes.
func (c *cognito) readCSV(in io.Reader, each func(at string, u *cognitoUser) error) error {
	records := csv.NewReader(in)
	header, err := records.Read()
	if err != nil {
		return err
	}
	for {
		row, err := records.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		u := &cognitoUser{}
		for j, name := range header {
			switch {
			case name == "cognito:username":
				u.Username = row[j]
			case row[j] != "":
				u.Attributes = append(u.Attributes, struct {
					Name  string `json:"Name"`
					Value string `json:"Value"`
				}{name, row[j]})
			}
		}
		if err := each(rowPosition(records, nil), u); err != nil {
			return err
		}
	}
}

func (c *cognito) user(r *Report, in *cognitoUser, at string) *User {
	u := &User{Place: at, Attributes: map[string]any{}, Others: map[string]any{}, Disabled: in.Enabled != nil && !*in.Enabled, Groups: in.Groups, CreatedAt: cognitoTime(in.Created)}
	for _, a := range in.Attributes {
		c.addAttribute(r, u, a.Name, a.Value)
	}
	u.ForeignID = firstText(u.ForeignID, in.Username)
	u.ID = idOf("cognito", c.Name, "user", u.ForeignID)
	u.Place = strings.TrimSpace(at + " (id " + u.ForeignID + ")")
	if in.Username != u.ForeignID { // pools with addresses as names use the ID
		setText(u.Attributes, "username", in.Username)
	}
	nameUser(u.Attributes)
	switch in.Status {
	case "EXTERNAL_PROVIDER":
		r.add("users", u.Place, "the user signs in at an identity provider, and the link is not imported", "create the provider; users link it when they sign in with it (docs/federation.md)")
	}
	return u
}

func (c *cognito) addAttribute(r *Report, u *User, name, value string) {
	switch {
	case name == "sub":
		u.ForeignID = value
	case name == "email_verified" || name == "phone_number_verified":
		if strings.EqualFold(value, "true") {
			u.Attributes[name] = true
		}
	case name == "updated_at", name == "identities", name == "cognito:mfa_enabled":
	case strings.HasPrefix(name, "custom:"):
		setText(u.Others, strings.TrimPrefix(name, "custom:"), value)
	case name == "address":
		r.add("users", u.Place, "addresses are not imported: Cognito has them as one text", "set the parts of the address")
	default:
		setText(u.Attributes, name, value)
	}
}

// cognitoTime returns the time of a text or of a number of seconds.
func cognitoTime(v any) (at time.Time) {
	switch v := v.(type) {
	case string:
		at, _ = time.Parse(time.RFC3339, v)
	case float64:
		at = time.UnixMilli(int64(v * 1000)).UTC()
	}
	return at
}
