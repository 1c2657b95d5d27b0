package importer

import (
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// convert returns a user as it is stored; ok is false if the user cannot be imported.
func (w *userWriter) convert(u *User) (next store.NewUser, ok bool) {
	if schemas.IsBuiltinID(u.ForeignID) {
		w.report.add("users", u.Place, "the ID of the user is one that every Postern has, and is replaced", "check the export: the product does not generate such IDs")
	}
	next = store.NewUser{User: schemas.User{ID: u.ID, CreatedAt: u.CreatedAt, Attributes: w.attributes(u)}, PasswordHash: u.Password, Passkeys: u.Passkeys}
	if u.Disabled {
		next.Status = schemas.UserDisabled
	}
	if u.Password != "" && !w.users.AcceptsPasswords() {
		next.PasswordHash = ""
		w.report.add("users", u.Place, fmt.Sprintf("users of the type %q have no password", w.UserType), "choose another type with --type")
	}
	if !w.fit(u, &next) {
		return next, false
	}
	for i := range next.Passkeys {
		next.Passkeys[i].UserID = u.ID
		if next.Passkeys[i].CreatedAt.IsZero() {
			next.Passkeys[i].CreatedAt = next.CreatedAt
		}
	}
	if u.TOTP != nil {
		w.report.add("second factors", u.Place, "the user has an authenticator app: the built-in sign-in flows ask for its code, and flows of your own only if they have the node totp", "check the flows of the applications before users sign in")
		app := w.Seal(*u.TOTP, u.ID)
		app.CreatedAt = next.UpdatedAt
		next.TOTP = &app
	}
	w.link(u, &next)
	next.Groups, next.Roles = w.join(u, "groups", u.Groups), w.join(u, "roles", u.Roles)
	// The event names what the user has.
	return next, len(w.users.Prepare(&next)) == 0
}

// attributes returns the attributes that the user type has.
func (w *userWriter) attributes(u *User) map[string]any {
	attributes := map[string]any{}
	for _, some := range []map[string]any{u.Others, u.Attributes} {
		for name, value := range some {
			if w.known(name) {
				attributes[name] = value
				continue
			}
			if whole := u.PartOf[name]; whole != "" && w.known(whole) {
				continue
			}
			w.report.add("users", u.Place, fmt.Sprintf("the user type %q has no attribute %.64q%s", w.UserType, name, schemas.Hint(name, w.names)), "add it to the user type before the import, if applications need it")
		}
	}
	return attributes
}

// fit removes attributes that do not fit the user type, and reports whether the rest does. A user must
// keep an identifier.
func (w *userWriter) fit(u *User, next *store.NewUser) bool {
	problems := w.users.Prepare(next)
	for _, p := range problems {
		name, _, _ := strings.Cut(strings.SplitN(p.Path, "[", 2)[0], ".")
		if _, has := next.Attributes[name]; has {
			delete(next.Attributes, name)
			w.report.add("users", u.Place, fmt.Sprintf("the value of the attribute %q is left out: %s", name, p.WithoutValue().Message), "correct it in the product, or later")
		}
	}
	if len(problems) > 0 {
		problems = w.users.Prepare(next)
	}
	for _, p := range problems {
		w.report.add("users", u.Place, "the user does not fit the user type: "+strings.TrimPrefix(p.Path+": ", ": ")+p.WithoutValue().Message, "correct the user in the product, or choose another type with --type")
	}
	identified := slices.ContainsFunc(schemas.IdentifyingAttributes(), func(name string) bool { return next.Text(name) != "" })
	if !identified && len(problems) == 0 {
		w.report.add("users", u.Place, "the user has neither a username nor an email address that can be stored", "give the user a username in the product")
	}
	return len(problems) == 0 && identified
}

// link links the identities of a user at providers that the store has.
func (w *userWriter) link(u *User, next *store.NewUser) {
	for _, identity := range u.Identities {
		provider, known := w.providers[identity.Provider]
		if !known || identity.Issuer != "" && identity.Issuer != provider.Issuer {
			w.report.add("users", u.Place, fmt.Sprintf("there is no identity provider with the handle %.64q and the same issuer for a linked identity", identity.Provider),
				"create it before the import; otherwise users link the identity again when they sign in with it")
			continue
		}
		next.Identities = append(next.Identities, schemas.Identity{
			ID: schemas.NewID(), UserID: u.ID, ProviderID: provider.ID, Subject: identity.Subject, Name: identity.Name, CreatedAt: next.UpdatedAt,
		})
	}
}

// join returns the IDs of the groups or roles of a user that exist and are not full.
func (w *userWriter) join(u *User, plural string, keys []string) (ids []string) {
	for _, key := range keys {
		id := w.ids[plural+" "+key]
		switch {
		case id == "" && !w.listed[plural+" "+key]:
			w.report.add("users", u.Place, fmt.Sprintf("the export does not contain the %s %.100q of the user", strings.TrimSuffix(plural, "s"), key), "create it, and add the user to it")
		case id == "":
			w.report.add("users", u.Place, fmt.Sprintf("the %s %.100q were not imported, and their members neither", plural, key), "see the findings about "+plural)
		case slices.Contains(ids, id):
		case !w.MayAdminister && w.joined[id] != nil && w.joined[id].administers:
			w.report.add("users", u.Place, fmt.Sprintf("the %s %.100q give administrative permissions (%s): the user does not get them", plural, key, strings.Join(w.joined[id].Permissions, " ")),
				"make the user an administrator by hand, or pass --administrators if the export may decide that")
		case w.members[id] >= maxMembers:
			w.report.add("users", u.Place, fmt.Sprintf("of the %s %.100q only the first %d members are imported", plural, key, maxMembers), "use an attribute or the user type for what so many users have in common")
		default:
			w.members[id]++
			ids = append(ids, id)
		}
	}
	return ids
}

// hashText returns the text of a hash that can be verified; "" for others, which are reported.
func hashText(r *Report, place string, h password.Imported) string {
	if err := h.Check(); err != nil {
		r.add("passwords", place, "the password hash cannot be verified: "+err.Error(), noPassword)
		return ""
	}
	return h.String()
}

// noPassword is what to do for a user without a usable password hash.
const noPassword = "the user sets a new password with a recovery flow (forgotten-password), or signs in with a passkey"
