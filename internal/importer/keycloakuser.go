package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Users implements Source.
func (k *keycloak) Users(r *Report, each func(*User) error) error {
	for _, file := range k.files {
		users := records[keycloakUser]{report: r, subject: "users", file: file, unread: k.unread(r), path: "users"}
		err := withFile(file, func(in io.Reader) error {
			return eachObject(in, func(d *json.Decoder) error {
				chosen, known := true, false // a file of users may have no realm
				return eachMember(d, func(name string) error {
					switch {
					case name == "realm":
						var realm string
						err := d.Decode(&realm)
						chosen, known = realm == k.realm.Realm, true
						return err
					case name == "users" && !known && k.Name != "":
						return errors.New("the member users comes before realm: expected realm first, because --name chooses one")
					case name == "users" && chosen:
						return users.each(d, func(i int, u *keycloakUser) error {
							if u.ServiceAccount != "" {
								k.reportServiceAccount(r, u)
								return nil // it is the client
							}
							return each(k.user(r, u, place(file, i, firstText(u.ID, u.Username))))
						})
					case name == "federatedUsers":
						r.add("users", filepath.Base(file), "the credentials of federated users are not imported", "export the users from where they are stored")
					}
					return skipValue(d)
				})
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// reportServiceAccount reports what the user of a client has.
func (k *keycloak) reportServiceAccount(r *Report, u *keycloakUser) {
	if roles := k.roleKeys(u.RealmRoles, u.ClientRoles); len(roles)+len(u.Groups) > 0 {
		r.add("clients", "client "+u.ServiceAccount, "the roles and groups of its service account are not imported", "assign the application to the roles by hand")
	}
}

type keycloakUser struct {
	ID              string                `json:"id"`
	Username        string                `json:"username"`
	Email           string                `json:"email"`
	EmailVerified   bool                  `json:"emailVerified"`
	Enabled         *bool                 `json:"enabled"`
	Created         int64                 `json:"createdTimestamp"` // milliseconds
	FirstName       string                `json:"firstName"`
	LastName        string                `json:"lastName"`
	Attributes      map[string]looseTexts `json:"attributes"`
	Credentials     []keycloakCredential  `json:"credentials"`
	RequiredActions []string              `json:"requiredActions"`
	Identities      []struct {
		Provider string `json:"identityProvider"`
		UserID   string `json:"userId"`
		UserName string `json:"userName"`
	} `json:"federatedIdentities"`
	RealmRoles     []string            `json:"realmRoles"`
	ClientRoles    map[string][]string `json:"clientRoles"`
	Groups         []string            `json:"groups"`
	ServiceAccount string              `json:"serviceAccountClientId"`
	FederationLink string              `json:"federationLink"`
}

func (k *keycloak) user(r *Report, in *keycloakUser, at string) *User {
	u := &User{ForeignID: in.ID, ID: k.idOf("user", firstText(in.ID, in.Username)), Place: at, Attributes: map[string]any{}, Others: map[string]any{},
		Disabled: in.Enabled != nil && !*in.Enabled, Groups: in.Groups, Roles: k.roleKeys(in.RealmRoles, in.ClientRoles)}
	if in.Created > 0 {
		u.CreatedAt = time.UnixMilli(in.Created).UTC()
	}
	setText(u.Attributes, "username", in.Username)
	setText(u.Attributes, "email", in.Email)
	setText(u.Attributes, "given_name", in.FirstName)
	setText(u.Attributes, "family_name", in.LastName)
	addName(u.Attributes)
	if in.EmailVerified && in.Email != "" {
		u.Attributes["email_verified"] = true
	}
	for name, values := range in.Attributes {
		switch {
		case len(values) == 1:
			u.Others[keycloakAttribute(name)] = values[0]
		case len(values) > 1:
			u.Others[keycloakAttribute(name)] = slices.Clone([]string(values))
		}
	}
	for _, identity := range in.Identities {
		u.Identities = append(u.Identities, Identity{Provider: slug(identity.Provider), Issuer: k.issuerOf(identity.Provider), Subject: identity.UserID, Name: identity.UserName})
	}
	for _, action := range in.RequiredActions {
		r.add("users", at, fmt.Sprintf("the required action %.40q is not imported", action), "ask in the sign-in flow, for example with email-otp, password-set or attributes")
	}
	for _, c := range in.Credentials {
		k.addCredential(r, u, c)
	}
	if names := placeholderNames(in.Username + in.Email + u.PlainPassword); len(names) > 0 {
		r.add("templates", at, "a placeholder is not filled in, and a password with one is not imported: "+strings.Join(names, ", "), "replace it by its value, for example with envsubst, and import the result")
		u.PlainPassword = ""
	}
	if u.Password == "" && u.PlainPassword == "" && len(u.Passkeys) == 0 && len(u.Identities) == 0 {
		r.add("passwords", at, "the user has no credential that is imported", noPassword)
	}
	return u
}

// keycloakAttribute returns the standard claim that Keycloak's mappers fill from an attribute.
func keycloakAttribute(name string) string {
	claims := map[string]string{
		"phoneNumber": "phone_number", "phoneNumberVerified": "phone_number_verified", "middleName": "middle_name", "zoneinfo": "zoneinfo",
	}
	if claim := claims[name]; claim != "" {
		return claim
	}
	return name
}
