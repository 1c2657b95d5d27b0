package directory

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// ProfileAttribute is an attribute that users can change themselves.
type ProfileAttribute struct {
	Name     string   `json:"name"`
	Title    string   `json:"title"`
	Value    string   `json:"value"`
	Required bool     `json:"required"`
	Options  []string `json:"options,omitempty"` // the possible values; empty for any
	// Owner is who changes the attribute instead of the user; nil if the user can.
	Owner *schemas.AttributeOwner `json:"owner,omitempty"`
}

// Profile is what users can change of their own account besides credentials.
type Profile struct {
	Attributes []ProfileAttribute `json:"attributes"`
	// Password says whether the user has a password, PasswordAllowed whether the user type has one.
	Password        bool `json:"password"`
	PasswordAllowed bool `json:"passwordAllowed"`
	// PasswordLimit is the class of the sign-in that set the password, if a sign-in with the password
	// proves no more than that; "" for no limit.
	PasswordLimit string `json:"passwordLimit,omitempty"`
	// PasswordNeeds is the class of the sign-in that the user needs to set a password, "" if the one of the
	// token suffices.
	PasswordNeeds string `json:"passwordNeeds,omitempty"`
	// UnusedCredentials are the credentials that the user can enroll although no application asks for them
	// to which the user may sign in: passkey, password, totp or recovery-codes.
	UnusedCredentials []string `json:"unusedCredentials,omitempty"`
}

// Profile returns the profile of a user.
func (d *Directory) Profile(ctx context.Context, c Call, userID string) (*Profile, error) {
	return readAccount(ctx, d, c, userID, func(ctx context.Context, r store.Reader, userID string) (*Profile, error) {
		u, err := store.Users().Get(ctx, r, userID)
		if err != nil {
			return nil, err
		}
		t, err := store.UserTypes().Find(ctx, r, "name", u.Type)
		if err != nil || t == nil {
			return nil, err
		}
		p := &Profile{Attributes: []ProfileAttribute{}, PasswordAllowed: t.CredentialAttribute() != ""}
		owners, err := store.OwnersOf(ctx, r, userID)
		if err != nil {
			return nil, err
		}
		for _, a := range t.ProfileFields() {
			p.Attributes = append(p.Attributes, ProfileAttribute{a.Name, a.Title, u.Text(a.Name), a.Required, a.Options, otherOwner(owners, a.Name)})
		}
		if p.Password, err = store.HasPassword(ctx, r, userID); err != nil {
			return nil, err
		}
		by, err := store.PasswordAddedBy(ctx, r, userID)
		if _, _, less := by.Limit([]string{"pwd"}, schemas.ACRPassword); less {
			p.PasswordLimit = by.ACR
		}
		if err != nil {
			return nil, err
		}
		if p.PasswordNeeds, err = d.passwordNeeds(ctx, r, c, userID); err != nil {
			return nil, err
		}
		p.UnusedCredentials, err = d.UnusedCredentials(ctx, r, t.Name, t.IdentifierScope)
		return p, err
	})
}

// otherOwner returns the owner of an attribute, nil for none or if it is the user.
func otherOwner(owners []schemas.AttributeOwner, attribute string) *schemas.AttributeOwner {
	i := slices.IndexFunc(owners, func(o schemas.AttributeOwner) bool { return o.Attribute == attribute })
	if i < 0 || (schemas.Writer{}).Owns(&owners[i]) {
		return nil
	}
	return &owners[i]
}

// passwordNeeds returns the class that the sign-in of the calling user lacks to set a password.
func (d *Directory) passwordNeeds(ctx context.Context, r store.Reader, c Call, userID string) (string, error) {
	by, err := c.provenance(ctx, r, userID, d.now())
	if err != nil {
		return "", err
	}
	err = requireUsefulPassword(ctx, r, userID, by)
	if needs, unproved := errors.AsType[*schemas.ProofRequired](err); unproved {
		return needs.ACR, nil
	}
	return "", err
}

// UpdateProfile changes attributes of the calling user; null removes one. Users can change what
// schemas.UserType.ProfileFields lists: nothing that identifies or reaches the account, or that an
// administrator states about the user. Other attributes are Class Invalid.
func (d *Directory) UpdateProfile(ctx context.Context, c Call, changes *schemas.Document) error {
	profile, err := d.Profile(ctx, c, c.userID())
	if err != nil {
		return err
	}
	var problems []schemas.Problem
	for _, name := range changes.Members() {
		if !slices.ContainsFunc(profile.Attributes, func(a ProfileAttribute) bool { return a.Name == name }) {
			problems = append(problems, schemas.Problem{Path: schemas.MemberPath("", name),
				Message: "users cannot change this attribute themselves; expected one of those in GET /users/me/profile"})
		}
	}
	if len(problems) > 0 {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the profile was not changed: %s", problems[0]).WithProblems(problems)
	}
	return d.patchOwn(ctx, c, json.RawMessage(changes.JSON()))
}

// SetPassword sets the password of the calling user, who must pass MayManageAccount, and returns what former
// passwords alone have added to the account: see FormerAdditions. A password that the policy refuses is
// Class Invalid.
func (d *Directory) SetPassword(ctx context.Context, c Call, password string) ([]schemas.Addition, error) {
	if err := d.MayManageAccount(ctx, c, c.userID()); err != nil {
		return nil, err
	}
	text, err := json.Marshal(map[string]string{passwordAttribute: password})
	if err != nil {
		return nil, err
	}
	if err := d.patchOwn(ctx, c, text); err != nil {
		return nil, err
	}
	return store.FormerAdditions(ctx, d.reader(c), c.userID())
}

// patchOwn changes attributes of the calling user.
func (d *Directory) patchOwn(ctx context.Context, c Call, attributes json.RawMessage) error {
	text, err := json.Marshal(map[string]json.RawMessage{"attributes": attributes})
	if err != nil {
		return err
	}
	patch, problems := schemas.ParseJSON(text)
	if len(problems) > 0 {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the attributes are not JSON: %s", problems[0])
	}
	c.own = true
	_, err = Patch(ctx, d.Users, c, c.userID(), "", patch)
	return err
}

// RemovePassword removes the password of the calling user, who must pass MayManageAccount and have
// another sign-in method, one that the password alone has not added: otherwise the error has Class
// Conflict, code last_credential. So has that of a user whose type requires a password.
func (d *Directory) RemovePassword(ctx context.Context, c Call) error {
	userID := c.userID()
	return d.changeAccount(ctx, c, userID, func(w *writeContext) error {
		u, err := store.Users().Get(w.ctx, w.tx, userID)
		if err != nil {
			return err
		}
		id, err := store.PasswordID(w.ctx, w.tx, userID)
		if err != nil || id == "" {
			return err
		}
		if t := w.userType(u); t.RequiresPassword() {
			return schemas.Errorf(schemas.Conflict, schemas.CodeLastCredential, "users of the type %.64q must have a password; set another one instead", u.Type)
		}
		if err := w.hasLoginMethod(userID, "password", schemas.Proof{Kind: schemas.PasswordProof, Of: id}); err != nil {
			return err
		}
		confirmed, err := w.confirmed(userID)
		if err != nil {
			return err
		}
		w.recordUserEvent(userID, "password.removed", schemas.ResourceRef{})
		return w.apply(schemas.RemovePassword{UserID: userID, At: w.now, Confirmed: confirmed})
	})
}
