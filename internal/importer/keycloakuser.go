package importer

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Users implements Source.
func (k *keycloak) Users(r *Report, each func(*User) error) error {
	for _, file := range k.files {
		users := records[keycloakUser]{report: r, subject: "users", file: file, unread: k.unread(r), path: "users"}
		err := withFile(file, func(in *positions) error {
			users.in = in.track()
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
						return users.each(d, func(position string, u *keycloakUser) error {
							if u.ServiceAccount != "" {
								k.reportServiceAccount(r, u)
								return nil // it is the client
							}
							return each(k.user(r, u, u.place(file, position)))
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

// place returns the position of a user, with the ID or, for a user without one, the name.
func (u *keycloakUser) place(file, position string) string {
	at := place(file, position, u.ID)
	if key := naturalKey(map[string]any{"username": u.Username}); u.ID == "" && key != "" {
		at += " (" + key + ")"
	}
	return at
}

// reportServiceAccount reports what the user of a client has, except roles, which the application gets.
func (k *keycloak) reportServiceAccount(r *Report, u *keycloakUser) {
	place := "client " + u.ServiceAccount
	if len(u.Groups) > 0 {
		r.add("clients", place, "the groups of its service account are not imported: applications are not members of groups", "assign the application to the roles of the groups")
	}
	for _, name := range sortedKeys(u.Attributes) {
		r.add("clients", place, fmt.Sprintf("the attribute %.64q of its service account is not imported", name), "applications have no attributes")
	}
	k.reportAdministration(r, "clients", place, u.ClientRoles)
}

type keycloakUser struct {
	ID              string                   `json:"id"`
	Username        string                   `json:"username"`
	Email           string                   `json:"email"`
	EmailVerified   looseBool                `json:"emailVerified"`
	Enabled         *looseBool               `json:"enabled"`
	Created         looseInt                 `json:"createdTimestamp"` // milliseconds
	FirstName       string                   `json:"firstName"`
	LastName        string                   `json:"lastName"`
	Attributes      map[string]looseTexts    `json:"attributes"`
	Credentials     rows[keycloakCredential] `json:"credentials"`
	RequiredActions []string                 `json:"requiredActions"`
	Identities      rows[keycloakIdentity]   `json:"federatedIdentities"`
	RealmRoles      []string                 `json:"realmRoles"`
	ClientRoles     map[string][]string      `json:"clientRoles"`
	Groups          []string                 `json:"groups"`
	ServiceAccount  string                   `json:"serviceAccountClientId"`
	FederationLink  string                   `json:"federationLink"` // the directory that has the password
}

type keycloakIdentity struct {
	Provider string `json:"identityProvider"`
	UserID   string `json:"userId"`
	UserName string `json:"userName"`
}

func (k *keycloak) user(r *Report, in *keycloakUser, at string) *User {
	u := &User{ForeignID: in.ID, ID: k.idOf("user", firstText(in.ID, in.Username)), Place: at, Attributes: map[string]any{}, Others: map[string]any{},
		Disabled: isFalse(in.Enabled), Groups: groupPaths(in.Groups), Roles: k.roleKeys(in.RealmRoles, in.ClientRoles)}
	if in.Created > 0 {
		u.CreatedAt = time.UnixMilli(int64(in.Created)).UTC()
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
		switch name = keycloakAttribute(name); {
		case isMemberClaim(name):
			r.add("users", at, fmt.Sprintf("the attribute %.64q is left out: a member of the user has this claim", name), "rename it in the product, if it is something else")
		case len(values) == 1:
			u.Others[name] = values[0]
		case len(values) > 1:
			u.Others[name] = slices.Clone([]string(values))
		}
	}
	k.addAddress(u)
	k.reportAdministration(r, "users", at, in.ClientRoles)
	r.addBad("users", in.partsAt(at)...)
	for _, identity := range in.Identities.List {
		u.Identities = append(u.Identities, Identity{Provider: slug(identity.Provider), Issuer: k.issuerOf(identity.Provider), Subject: identity.UserID, Name: identity.UserName})
	}
	for _, action := range in.RequiredActions {
		r.add("users", at, fmt.Sprintf("the required action %.40q is not imported", action), "ask in the sign-in flow, for example with email-otp, password-set or attributes")
	}
	for _, c := range in.Credentials.List {
		k.addCredential(r, u, c)
	}
	if names := placeholderNames(in.Username + in.Email + u.PlainPassword); len(names) > 0 {
		r.add("templates", at, "a placeholder is not filled in, and a password with one is not imported: "+strings.Join(names, ", "), "replace it by its value, for example with envsubst, and import the result")
		u.PlainPassword = ""
	}
	switch {
	case in.FederationLink != "":
		r.add("users", at, "the user comes from another directory (federationLink), and its credentials there are not in the export", "let the user sign in at an OpenID provider in front of the directory (docs/federation.md), or set a password")
	case u.Password == "" && u.PlainPassword == "" && len(u.Passkeys) == 0 && len(u.Identities) == 0:
		r.add("passwords", at, "the user has no credential that is imported", noPassword)
	}
	return u
}

// partsAt returns the credentials and identities of a user that cannot be read.
func (u *keycloakUser) partsAt(at string) (bad []badRow) {
	for member, parts := range map[string][]badRow{"credentials": u.Credentials.bad, "federatedIdentities": u.Identities.bad} {
		for _, b := range parts {
			bad = append(bad, badRow{at + ", " + member + " " + b.place, b.err})
		}
	}
	return bad
}

// groupPaths returns the paths of groups. In files that were written by hand, the first slash is often missing.
func groupPaths(names []string) (paths []string) {
	for _, name := range names {
		paths = append(paths, "/"+strings.Trim(name, "/"))
	}
	return paths
}

// isMemberClaim reports whether Keycloak has a claim as a member of the user, which only the user's confirmation or
// an administrator changes, unlike an attribute of this name.
func isMemberClaim(name string) bool {
	return slices.Contains([]string{"username", "preferred_username", "email", "email_verified"}, name)
}

// addAddress adds the claim address, whose parts are attributes in Keycloak. The address mapper of the realm names them.
func (k *keycloak) addAddress(u *User) {
	address := map[string]any{}
	for part, attribute := range k.addressParts() {
		if text := textOf(u.Others[attribute]); text != "" {
			address[part] = text
			if u.PartOf == nil {
				u.PartOf = map[string]string{}
			}
			u.PartOf[attribute] = "address"
		}
	}
	if len(address) > 0 && u.Others["address"] == nil {
		u.Others["address"] = address
	}
}

// addressParts returns the attributes of the parts of an address.
func (k *keycloak) addressParts() map[string]string {
	parts := map[string]string{"formatted": "formatted", "street_address": "street", "locality": "locality", "region": "region", "postal_code": "postal_code", "country": "country"}
	for _, s := range k.realm.Scopes.List {
		for _, m := range s.Mappers {
			if m.Kind != "oidc-address-mapper" {
				continue
			}
			for part, attribute := range parts {
				parts[part] = firstText(m.text("user.attribute."+strings.TrimSuffix(part, "_address")), attribute)
			}
			return parts
		}
	}
	return parts
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
