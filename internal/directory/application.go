package directory

import (
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// ConsoleID is the id of the application CONSOLE, which administrators use to manage the
// service. It can be changed but not deleted.
const ConsoleID = "01900000-0000-7000-8000-000000000001"

// The default flows of applications.
const (
	DefaultSignIn = "sign-in"
	DefaultSignUp = "passkey-sign-up"
)

// maxCustomizationsSize limits the customizations of an application, in bytes of JSON: they
// are sent with every sign-in.
const maxCustomizationsSize = 64 << 10

func (d *Directory) applicationCollection() *collection[schemas.Application] {
	table := store.Applications()
	return &collection[schemas.Application]{
		d: d, table: table,
		noun:     newNoun(Noun{Name: "application", Schema: schemas.ApplicationSchema, Key: "name", Filters: table.Filters(), Prefixes: table.Prefixes()}),
		meta:     func(a *schemas.Application) meta { return meta{&a.ID, &a.CreatedAt, &a.UpdatedAt} },
		complete: completeApplication,
		check:    checkApplication,
		touched:  d.touchApplication,
		remove:   removeApplication,
		show:     d.showApplication,
		digested: digestedApplication,
	}
}

// showApplication removes the time of a former secret that has passed.
func (d *Directory) showApplication(a *schemas.Application) {
	if !d.now().Before(a.FormerSecretExpiresAt) {
		a.FormerSecretExpiresAt = time.Time{}
	}
}

func completeApplication(w *writeContext, old, a *schemas.Application) {
	defaultUnit(w, &a.OUID)
	defaultFlow(w, "authFlowId", &a.AuthFlowID, schemas.Authentication, DefaultSignIn)
	defaultFlow(w, "registrationFlowId", &a.RegistrationFlowID, schemas.Registration, DefaultSignUp)
	for _, f := range a.OptionalFlows() {
		if *f.ID != "" {
			defaultFlow(w, f.Path, f.ID, schemas.Authentication, "")
		}
	}
	for i := range a.AllowedUserTypes {
		resolveUserType(w, &a.AllowedUserTypes[i])
	}
	if old == nil {
		old = &schemas.Application{Registration: w.registration}
	}
	a.Registration = old.Registration
	a.FormerSecretHash, a.FormerSecretExpiresAt = nil, time.Time{}
	completeClient(w, old, a)
	completeGeneration(w, old, a)
}

// defaultFlow completes a reference to a flow: a handle becomes the flow's id, and a
// missing reference the id of the default flow.
func defaultFlow(w *writeContext, path string, id *string, t schemas.FlowType, handle string) {
	named := *id != ""
	if isCanonicalUUID(*id) {
		return
	}
	f, err := store.Flows().Find(w.ctx, w.tx, t, cmp.Or(*id, handle))
	switch {
	case w.fail(err) || f == nil && named: // checkFlowType reports a reference to an unknown flow
	case f == nil:
		w.addInvalid(path, "there is no default %s flow %q; set the id of a flow", t, handle)
	default:
		*id = f.ID
	}
}

func checkApplication(w *writeContext, old, a *schemas.Application) {
	was := orZero(old)
	checkName(w, was.Name, a.Name)
	checkUnique(w, store.Applications(), "name", a.Name, was.ID)
	checkExists(w, store.Units(), "ouId", a.OUID)
	for _, f := range a.Flows() {
		checkFlowType(w, f.Path, *f.ID, f.FlowType())
	}
	checkUserTypes(w, a.AllowedUserTypes)
	checkOrigins(w, was.PasskeyAllowedOrigins, a.PasskeyAllowedOrigins)
	checkLines(w, "contacts", a.Contacts)
	checkLines(w, "assertion.userAttributes", a.Assertion.UserAttributes)
	checkCustomizations(w, was.Customizations, a.Customizations)
	if a.Verified && a.Registration == "" {
		w.addInvalid("verified", "only self-registered clients can be verified; leave it out: a client that an administrator created is trusted")
	}
	guardApplication(w, was)
	guardSignIn(w, was, a)
	checkClient(w, was, a)
}

// opensWays reports whether a change can open a way to sign in. Clients that register themselves
// start the flows that other applications start too, and have no permissions.
func opensWays(was, a *schemas.Application) bool {
	before, after := systemApplication(was, nil), systemApplication(a, nil)
	return !isUntrusted(a) && (!slices.Equal(before.FlowIDs, after.FlowIDs) || isUntrusted(was) || was.ClientID != a.ClientID ||
		before.Account != after.Account || before.ManagesUsers != after.ManagesUsers || before.Unlimited != after.Unlimited)
}

// guardApplication requires the application's own permissions of the caller: a caller who
// changes its redirect URIs or its secret can act in its place.
func guardApplication(w *writeContext, was *schemas.Application) {
	if was.ID == "" {
		return
	}
	if o := was.OAuth(); o != nil {
		w.requirePermissions("", "the application", managedBy(o.Scopes, w.identityScopes(o)))
	}
	if len(w.forbidden) > 0 {
		return
	}
	w.requireOf("", "the application", schemas.Principal{Type: schemas.ApplicationPrincipal, ID: was.ID})
}

func removeApplication(w *writeContext, a *schemas.Application) {
	if a.ID == ConsoleID {
		w.addReadOnly("", "administrators sign in to the console; it cannot be deleted")
	}
	guardApplication(w, a)
	guardRemoval(w, a)
	w.fail(store.RemovePrincipal(w.tx, schemas.Principal{Type: schemas.ApplicationPrincipal, ID: a.ID}, w.now))
}

func checkFlowType(w *writeContext, path, id string, t schemas.FlowType) {
	if id == "" {
		return
	}
	f, err := store.Flows().Get(w.ctx, w.tx, id)
	if schemas.HasClass(err, schemas.NotFound) {
		w.addInvalid(path, "there is no flow with the id %.64q, and no %s flow with this handle", id, t)
		return
	}
	if w.fail(err) {
		return
	}
	if f.FlowType != t {
		w.addInvalid(path, "expected a flow of the type %s, got %q, which is of the type %s", t, f.Handle, f.FlowType)
	}
	w.guardWaivers(path, f)
}

func checkUserTypes(w *writeContext, names []string) {
	checkLines(w, "allowedUserTypes", names)
	known, err := store.ExistingKeys(w.ctx, w.tx, "userType", names)
	if w.fail(err) {
		return
	}
	for i, name := range names {
		if !known[name] {
			w.addInvalid(fmt.Sprintf("allowedUserTypes[%d]", i), "there is no user type %.64q", name)
		}
	}
	checkOneScope(w, names)
}

// checkOneScope refuses user types of several identifier scopes: a name could identify two users of
// the application.
func checkOneScope(w *writeContext, names []string) {
	for i, name := range names {
		t, err := store.UserTypes().Find(w.ctx, w.tx, "name", name)
		w.fail(err)
		if t != nil && t.IdentifierScope != "" && len(names) > 1 {
			w.addInvalid(fmt.Sprintf("allowedUserTypes[%d]", i),
				"users of the type %.64q have usernames and addresses of their own (identifierScope), which users of the other types can have too; allow only this type here, or remove it", name)
		}
	}
}

// checkLines refuses texts with line breaks, which lists cannot store.
func checkLines(w *writeContext, path string, words []string) {
	for i, word := range words {
		if strings.ContainsAny(word, "\n\r") {
			w.addInvalid(fmt.Sprintf("%s[%d]", path, i), "expected one line, got several")
		}
	}
}

// checkCustomizations accepts a theme from before it was checked while it stays the same: the pages leave out what
// is unsafe in it.
func checkCustomizations(w *writeContext, was, c map[string]any) {
	switch theme := c["theme"].(type) {
	case nil:
	case map[string]any:
		if before, _ := was["theme"].(map[string]any); !w.keeps(reflect.DeepEqual(before, theme)) {
			w.problems = append(w.problems, schemas.CheckTheme("customizations.theme", theme)...)
		}
	default:
		w.addInvalid("customizations.theme", "expected an object")
	}
	text, err := json.Marshal(c)
	if err != nil || len(text) > maxCustomizationsSize {
		w.addInvalid("customizations", "expected at most %d bytes, got %d; refer to images by URL", maxCustomizationsSize, len(text))
	}
}

// digestedApplication is the application with the hash of its secret in place of the
// secret: it changes with the secret and does not reveal it. It includes the generation of
// the tokens, so that revoking them counts as a change.
func digestedApplication(a *schemas.Application) any {
	a.ClientSecret = ""
	var hash []byte
	if o := a.OAuth(); o != nil {
		a.InboundAuthConfig = slices.Clone(a.InboundAuthConfig)
		o = a.OAuth()
		o.ClientSecret, hash = "", o.SecretHash
	}
	return struct {
		*schemas.Application
		SecretHash []byte `json:"secretDigest"`
		Generation string `json:"tokenGeneration"`
	}{a, hash, a.TokenGeneration}
}
