package importer

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// Source reads the export of a product.
type Source interface {
	// Resources returns everything but the users.
	Resources(r *Report) (*Resources, error)
	// Users calls each with every user in the order of the files.
	Users(r *Report, each func(*User) error) error
}

// Resources are the content of an export without its users.
type Resources struct {
	// Name distinguishes the exports of a product: the realm, tenant or project.
	Name string
	// List are the resources, each after those it refers to.
	List []Resource
	// Flows are translated flow files by name, such as browser.yaml.
	Flows map[string][]byte
}

// Resource is a resource in the form of package declare.
type Resource struct {
	Plural string // "applications"
	Key    string // identifies it in Groups and Roles of users
	Place  string
	// ForeignID is the ID in the other product; "" if it has none.
	ForeignID string
	Content   map[string]any // with its id
	Secret    string         // of a client; "" for none
	notes     []note         // what of it is not imported
}

// User is a user of another product.
type User struct {
	ForeignID string
	ID        string // a UUID: see idOf
	Place     string
	// Attributes have the names of standard claims; Others are the attributes without one.
	Attributes, Others map[string]any
	PartOf             map[string]string // the name of the attribute that contains another one as a part
	Disabled           bool
	Password           string // the text of a password.Imported; "" for none
	PlainPassword      string // in clear text; "" for none
	TOTP               *totp.Key
	Passkeys           []schemas.Credential // without UserID
	Identities         []Identity
	Groups, Roles      []string // keys of resources
	CreatedAt          time.Time
}

// Identity is an identity of a user at another provider, with the provider's handle. Issuer is that of
// the provider, "" if the export does not contain it.
type Identity struct{ Provider, Issuer, Subject, Name string }

// Options are what exports do not contain.
type Options struct {
	// Name distinguishes several exports of a product whose IDs are not UUIDs: the tenant or project.
	Name string
	// RPID is the relying party id of the server. Passkeys of others cannot be used.
	RPID string
	// FormerHost is the host of the product, the RP ID of passkeys if the export names none.
	FormerHost string
	// HashConfig is the file with Firebase's password hash parameters.
	HashConfig string
}

// sources maps the products to their readers.
func sources() map[string]func(dir string, o Options) (Source, error) {
	return map[string]func(string, Options) (Source, error){
		"auth0":     openAuth0,
		"cognito":   openCognito,
		"csv":       openCSV,
		"firebase":  openFirebase,
		"jsonl":     openJSONLines,
		"keycloak":  openKeycloak,
		"thunderid": openThunderID,
	}
}

// Products lists the products whose exports can be read, sorted.
func Products() []string { return slices.Sorted(maps.Keys(sources())) }

// Open returns the source of a product. dir is a folder with the export, or its only file.
func Open(product, dir string, o Options) (Source, error) {
	open := sources()[product]
	if open == nil {
		return nil, fmt.Errorf("unknown product %.64q: expected one of %s", product, strings.Join(Products(), ", "))
	}
	if _, err := os.Stat(dir); err != nil {
		return nil, fmt.Errorf("the export cannot be read: %w", err)
	}
	source, err := open(dir, o)
	if err != nil {
		return nil, fmt.Errorf("%w; check that it is an export of %s", err, product)
	}
	return source, nil
}

// namespace is that of the IDs that idOf derives (RFC 9562 §5.5).
var namespace = uuid.MustParse("9d4f5ac6-3a54-5b0e-9a55-1f6a0c0f6f6e")

// idOf returns the ID of a resource: the one of the product if it is a UUID, so that the subject (sub)
// of a user stays the same, otherwise one that always follows from it. The ID of a built-in resource
// is replaced: it would name that one.
func idOf(product, name, noun, foreign string) string {
	if parsed, err := uuid.Parse(foreign); err == nil && len(foreign) == 36 && !schemas.IsBuiltinID(foreign) {
		return parsed.String()
	}
	return uuid.NewSHA1(namespace, []byte(strings.Join([]string{product, name, noun, foreign}, "\x00"))).String()
}

// setText sets an attribute unless the text is empty.
func setText(attributes map[string]any, name, text string) {
	if text = strings.TrimSpace(text); text != "" {
		attributes[name] = text
	}
}

// nameUser makes the address the username of a user without one: users sign in with it at most products,
// verified or not, and an unverified address alone identifies no user.
func nameUser(attributes map[string]any) {
	email, _ := attributes["email"].(string)
	if attributes["username"] == nil && email != "" {
		attributes["username"] = email
	}
}

// addName adds the full name if only its parts are known.
func addName(attributes map[string]any) {
	given, _ := attributes["given_name"].(string)
	family, _ := attributes["family_name"].(string)
	if full := strings.TrimSpace(given + " " + family); attributes["name"] == nil && full != "" {
		attributes["name"] = full
	}
}
