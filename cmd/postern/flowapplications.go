package main

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/schemas"
)

// maxApplicationsRead bounds how many applications are read to find those that use a flow.
const maxApplicationsRead = 1000

// maxApplicationsNamed is how many applications of a flow are printed.
const maxApplicationsNamed = 5

// printApplicationsOf prints which applications use the stored flows, or how to use a flow that none uses.
// It prints nothing if the caller may not read applications, or if there are too many.
func printApplicationsOf(ctx context.Context, w io.Writer, client *bootstrap.Client, stored []*schemas.Flow) error {
	applications, err := listPages(ctx, client, "/applications", "applications", url.Values{}, maxApplicationsRead)
	if schemas.HasClass(err, schemas.Forbidden) || len(applications) == maxApplicationsRead {
		return nil
	}
	for _, f := range stored {
		if uses := applicationsOf(applications, f.ID); len(uses) > 0 {
			fmt.Fprintf(w, "%s is the %s\n", f.Handle, joinSome(uses))
		} else if f.FlowType != schemas.Subflow {
			fmt.Fprintf(w, "%s is not used by any application yet: in the console, select %q as %s of an application\n", f.Handle, f.Name, usualMember(f))
		}
	}
	return err
}

// applicationsOf returns the uses of a flow, such as "sign-in flow of Shop".
func applicationsOf(applications []resource, id string) (uses []string) {
	for _, a := range applications {
		for _, f := range new(schemas.Application).Flows() {
			if a.text(f.Path) == id {
				uses = append(uses, titleOf(f)+" of "+printable(a.text("name")))
			}
		}
	}
	return uses
}

// titleOf returns a title such as "recovery flow".
func titleOf(f schemas.AssignedFlow) string {
	if f.Type == schemas.Authentication {
		return "sign-in flow"
	}
	return strings.TrimSuffix(f.Path, "FlowId") + " flow"
}

func usualMember(f *schemas.Flow) string {
	if f.FlowType == schemas.Registration {
		return "registration flow"
	}
	return "sign-in flow (or as another of its flows)"
}

func joinSome(list []string) string {
	if more := len(list) - maxApplicationsNamed; more > 0 {
		return fmt.Sprintf("%s, and %d more", strings.Join(list[:maxApplicationsNamed], ", "), more)
	}
	return strings.Join(list, ", ")
}
