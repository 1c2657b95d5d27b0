package main

import (
	"context"
	"net/http"
	"net/url"
	"slices"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/internal/directory"
)

type userShowCommand struct {
	output
	oneUser
}

// Run shows a user.
func (c userShowCommand) Run(ctx context.Context, p program) error {
	client, user, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	if err := addSignInMethods(ctx, client, user); err != nil {
		return err
	}
	if !c.JSON {
		describeSignInMethods(user)
	}
	return c.show(p.stdout, user, slices.Concat(userColumns(), []column{{"ATTRIBUTES", "attributes"}}, signInColumns())...)
}

func signInColumns() []column {
	return []column{{"PASSWORD", "password"}, {"PASSKEYS", "passkeys"}, {"IDENTITIES", "identities"}, {"FACTORS", "factors"}, {"FORMER PASSWORD", "addedWithFormerPassword"}}
}

// addSignInMethods adds the members password, passkeys, identities, factors and addedWithFormerPassword to a user.
func addSignInMethods(ctx context.Context, client *bootstrap.Client, user resource) error {
	path := "/users/" + user.text("id") + "/"
	for _, part := range []string{"passkeys", "identities", "factors"} {
		list, err := listPages(ctx, client, path+part, part, url.Values{}, mostSignInMethods)
		if err != nil {
			return err
		}
		user[part] = append([]resource{}, list...)
	}
	former, err := listPages(ctx, client, path+"former-password", "addedWithFormerPassword", url.Values{}, mostSignInMethods)
	if err != nil {
		return err
	}
	user["addedWithFormerPassword"] = append([]resource{}, former...)
	var profile struct {
		Password bool `json:"password"`
	}
	err = client.Send(ctx, http.MethodGet, path+"profile", nil, &profile)
	user["password"] = profile.Password
	return err
}

// mostSignInMethods limits the passkeys that are shown.
const mostSignInMethods = 1000

// describeSignInMethods replaces the sign-in methods of a user by text, one line for each.
func describeSignInMethods(user resource) {
	describe := map[string]func(resource) string{"passkeys": describePasskey, "identities": describeIdentity, "factors": describeFactor, "addedWithFormerPassword": describeAddition}
	for part, line := range describe {
		lines := []string{}
		for _, one := range user[part].([]resource) {
			lines = append(lines, line(one)+describeUse(part, one))
		}
		if len(lines) == 0 {
			lines = []string{"none"}
		}
		user[part] = lines
	}
	has := map[any]string{true: "yes", false: "no"}
	user["password"] = has[user["password"]]
}

func describePasskey(r resource) string {
	text := quoted(r.text("name"))
	if model := r.text("authenticator"); model != "" && model != r.text("name") {
		text += " (" + model + ")"
	}
	if r["backedUp"] == true {
		text += ", synced"
	}
	return text + ", id " + r.text("id")
}

func describeIdentity(r resource) string {
	text := r.text("provider.name") + " (" + r.text("provider.handle") + "), subject " + r.text("subject")
	if name := r.text("name"); name != "" {
		text += ", " + quoted(name)
	}
	return text
}

// describeAddition returns what was added with a former password alone.
func describeAddition(r resource) string {
	text := r.text("type")
	if name := r.text("name"); name != "" {
		text += " " + quoted(name)
	}
	return text
}

func describeFactor(r resource) string {
	if left := r.text("left"); left != "" {
		return r.text("type") + ", " + left + " of " + r.text("total") + " left"
	}
	return r.text("type")
}

// describeUse returns when a sign-in method was added and last used, and the class that it is limited to.
func describeUse(part string, r resource) string {
	text := ", added " + r.text("createdAt")
	if part == "addedWithFormerPassword" {
		return text
	}
	if used := r.text("lastUsedAt"); used != "" {
		text += ", last used " + used
	} else if r.text("type") != directory.RecoveryCodesFactor {
		text += ", never used"
	}
	if limit := r.text("limit"); limit != "" {
		text += ", proves at most " + limit
	}
	if r["formerPassword"] == true {
		text += ", added with a former password alone"
	}
	if at := r.text("disabledAt"); at != "" {
		text += ", disabled for new browsers since " + at
	}
	return text
}

func quoted(text string) string { return `"` + text + `"` }
