package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"

	"github.com/postern-id/postern/schemas"
)

type userOwnersCommand struct {
	output
	oneUser
}

// Run lists the owners of a user's attributes.
func (c userOwnersCommand) Run(ctx context.Context, p program) error {
	client, user, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	list, err := listPages(ctx, client, "/users/"+user.text("id")+"/attribute-owners", "attributeOwners", url.Values{}, 1000)
	if err != nil {
		return err
	}
	return c.list(p.stdout, list, column{"ATTRIBUTE", "attribute"}, column{"OWNER", "owner"}, column{"PROVIDER", "providerHandle"}, column{"SINCE", "since"})
}

// oneAttribute is an attribute of the user of a command.
type oneAttribute struct {
	oneUser
	Attribute string `arg:"" help:"The name of the attribute, such as given_name."`
}

func (c oneAttribute) path(user resource) string {
	return "/users/" + user.text("id") + "/attribute-owners/" + url.PathEscape(c.Attribute)
}

type userAdoptCommand struct {
	oneAttribute
	Owner    string `enum:"administrator,user,flow,provider" default:"administrator" help:"The new owner: administrator, user, flow, or provider."`
	Provider string `placeholder:"HANDLE" help:"The handle or the id of the identity provider, for --owner provider."`
}

// Run sets the owner of an attribute.
func (c userAdoptCommand) Run(ctx context.Context, p program) error {
	client, user, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	body := map[string]string{"owner": c.Owner}
	if c.Provider != "" {
		body["providerId"] = c.Provider
	}
	var set schemas.AttributeOwner
	if err := client.Send(ctx, http.MethodPut, c.path(user), body, &set); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s: %s belongs to %s\n", nameOf(user), c.Attribute, set.Name())
	return err
}

type userReleaseCommand struct{ oneAttribute }

// Run releases an attribute.
func (c userReleaseCommand) Run(ctx context.Context, p program) error {
	client, user, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	if err := client.Send(ctx, http.MethodDelete, c.path(user), nil, nil); err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%s: %s has no owner any more\n", nameOf(user), c.Attribute)
	return err
}
