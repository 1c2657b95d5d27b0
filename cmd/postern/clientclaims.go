package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"text/tabwriter"

	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/internal/directory"
)

type clientClaimsCommand struct {
	User  string   `required:"" placeholder:"USER" help:"The id, the username or the mail address of the user."`
	Scope []string `help:"A scope of the tokens. Default: all that the application may request."`
	JSON  bool     `name:"json" help:"Print JSON, as the API returns it."`
	oneApplication
}

// Run shows what an application learns about a user, and why.
func (c clientClaimsCommand) Run(ctx context.Context, p program) error {
	client, app, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	user, err := userFlags{}.kind().find(ctx, client, c.User)
	if err != nil {
		return err
	}
	query := url.Values{"user": {user.text("id")}}
	if len(c.Scope) > 0 {
		query.Set("scope", strings.Join(c.Scope, " "))
	}
	var report directory.ClaimsReport
	if err := client.Send(ctx, http.MethodGet, "/applications/"+app.text("id")+"/claims?"+query.Encode(), nil, &report); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(p.stdout, report)
	}
	return writeClaims(p.stdout, report)
}

// whyOf returns the reason for a claim, and where users can set its value.
func whyOf(e claims.Explanation) string {
	if len(e.SetByUsers) == 0 {
		return e.Reason
	}
	return e.Reason + "; users can set it: " + strings.Join(e.SetByUsers, "; ")
}

// writeClaims writes a report as text: the claims of each document, then why each claim has its value.
func writeClaims(w io.Writer, r directory.ClaimsReport) error {
	lines := []string{"Scopes: " + strings.Join(r.Scopes, " "), ""}
	for _, target := range claims.Targets() {
		text, err := json.Marshal(r.Documents[target.Name])
		if err != nil {
			return err
		}
		lines = append(lines, target.Name+": "+string(text))
	}
	for i := range lines {
		lines[i] = printable(lines[i])
	}
	if _, err := fmt.Fprintln(w, strings.Join(lines, "\n")+"\n"); err != nil {
		return err
	}
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "CLAIM\tSOURCE\tDECLARED BY\tIN\tWHY")
	for _, e := range r.Claims {
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", printable(e.Name()), printable(e.Source), e.Declared, strings.Join(e.Released, ", "), printable(whyOf(e)))
	}
	return table.Flush()
}
