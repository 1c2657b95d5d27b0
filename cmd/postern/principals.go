package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/schemas"
)

// principalFlags select the principals of a resource.
type principalFlags interface {
	// of returns the kind of the resource, and the list of its principals in the API.
	of() (kind nounKind, part string)
	// named returns the principals that the flags name.
	named() []namedPrincipal
}

// namedPrincipal is a principal on the command line.
type namedPrincipal struct {
	typ  schemas.PrincipalType
	kind nounKind
	name string
}

type memberFlags struct {
	User  []string `sep:"none" placeholder:"USER" help:"A user: the id, the username or the mail address."`
	Group []string `sep:"none" placeholder:"GROUP" help:"A group: the id or the name."`
}

func (memberFlags) of() (nounKind, string) { return groupFlags{}.kind(), "members" }

func (f memberFlags) named() (list []namedPrincipal) {
	for _, name := range f.User {
		list = append(list, namedPrincipal{schemas.UserPrincipal, userFlags{}.kind(), name})
	}
	for _, name := range f.Group {
		list = append(list, namedPrincipal{schemas.GroupPrincipal, groupFlags{}.kind(), name})
	}
	return list
}

type assigneeFlags struct {
	memberFlags
	App []string `sep:"none" placeholder:"APP" help:"An application: the id, the client id or the name."`
}

func (assigneeFlags) of() (nounKind, string) { return roleFlags{}.kind(), "assignments" }

func (f assigneeFlags) named() []namedPrincipal {
	list := f.memberFlags.named()
	for _, name := range f.App {
		list = append(list, namedPrincipal{schemas.ApplicationPrincipal, clientFlags{}.kind(), name})
	}
	return list
}

type principalListCommand[F principalFlags] struct {
	Name  string `arg:"" help:"The ${noun}: ${by}."`
	Limit int    `default:"100" help:"The maximum number to list."`
	output
	apiServer
}

// Run lists the principals of a resource, with their names.
func (c principalListCommand[F]) Run(ctx context.Context, p program) error {
	var flags F
	kind, part := flags.of()
	client, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	r, err := kind.find(ctx, client, c.Name)
	if err != nil {
		return err
	}
	list, err := listPages(ctx, client, kind.path(r)+"/"+part, part, url.Values{}, c.Limit)
	if err != nil {
		return err
	}
	names := eventNames{client, map[string]string{}}
	for _, one := range list {
		if !c.JSON {
			one["name"] = names.find(ctx, one.text("type"), one.text("id"))
		}
	}
	return c.list(p.stdout, list, column{"TYPE", "type"}, column{"NAME", "name"}, column{"ID", "id"})
}

// principalChange is a change of the principals of a resource.
type principalChange[F principalFlags] struct {
	Name  string `arg:"" help:"The ${noun}: ${by}."`
	Flags F      `embed:""`
	apiServer
}

// send sends a request for each principal, after all were found.
func (c principalChange[F]) send(ctx context.Context, p program, method, done string) error {
	kind, part := c.Flags.of()
	named := c.Flags.named()
	if len(named) == 0 {
		return errors.New("expected users, groups or applications as flags; --help lists them")
	}
	client, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	r, err := kind.find(ctx, client, c.Name)
	if err != nil {
		return err
	}
	found, err := findPrincipals(ctx, client, named)
	if err != nil {
		return err
	}
	for i, one := range found {
		path := kind.path(r) + "/" + part + "/" + string(named[i].typ) + "/" + one.text("id")
		if err := client.Send(ctx, method, path, nil, nil); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(p.stdout, "%s: %s the %s %s\n", kind.nameOf(r), done, named[i].typ, named[i].kind.nameOf(one)); err != nil {
			return err
		}
	}
	return nil
}

func findPrincipals(ctx context.Context, client *bootstrap.Client, named []namedPrincipal) (list []resource, err error) {
	for _, one := range named {
		r, err := one.kind.find(ctx, client, one.name)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

type principalAddCommand[F principalFlags] struct{ principalChange[F] }

// Run adds principals.
func (c principalAddCommand[F]) Run(ctx context.Context, p program) error {
	return c.send(ctx, p, http.MethodPut, "added")
}

type principalRemoveCommand[F principalFlags] struct{ principalChange[F] }

// Run removes principals.
func (c principalRemoveCommand[F]) Run(ctx context.Context, p program) error {
	return c.send(ctx, p, http.MethodDelete, "removed")
}
