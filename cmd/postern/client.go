package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/bootstrap"
)

type clientCommands struct {
	List         clientListCommand              `cmd:"" help:"List applications."`
	Show         clientShowCommand              `cmd:"" help:"Show an application."`
	Create       clientCreateCommand            `cmd:"" help:"Create an application that is an OAuth client, and print its settings."`
	Claims       clientClaimsCommand            `cmd:"" help:"Show what an application learns about a user, and why."`
	RotateSecret clientSecretCommand            `cmd:"" help:"Give an application a new client secret. The old one works for a day, unless a flag says otherwise."`
	Update       nounUpdateCommand[clientFlags] `cmd:"" help:"Change members of an application, or replace it by a file."`
	Delete       nounDeleteCommand[clientFlags] `cmd:"" help:"Delete an application, and revoke its tokens."`
}

// oneApplication is the application of a command.
type oneApplication struct {
	App string `arg:"" help:"The id, the client id or the name of the application."`
	apiServer
}

func (c oneApplication) find(ctx context.Context, p program) (*bootstrap.Client, resource, error) {
	client, err := c.connect(ctx, p)
	if err != nil {
		return nil, nil, err
	}
	r, err := findApplication(ctx, client, c.App)
	return client, r, err
}

func findApplication(ctx context.Context, client *bootstrap.Client, name string) (resource, error) {
	return clientFlags{}.kind().find(ctx, client, name)
}

// namesOfApplications returns the names of applications by their ids: the id itself if the caller may not read the
// application, or if it is gone.
func namesOfApplications(ctx context.Context, client *bootstrap.Client, ids []string) map[string]string {
	names := map[string]string{}
	for _, id := range ids {
		if id == "" || names[id] != "" {
			continue
		}
		var app resource
		_ = client.Send(ctx, http.MethodGet, "/applications/"+url.PathEscape(id), nil, &app) // the id stays
		names[id] = cmp.Or(app.text("name"), id)
	}
	return names
}

func applicationColumns() []column {
	return []column{{"ID", "id"}, {"NAME", "name"}, {"CLIENT ID", "clientId"}, {"REGISTRATION", "registration"}, {"CREATED", "createdAt"}}
}

func applicationDetails() []column {
	return []column{{"TYPE", "type"}, {"DESCRIPTION", "description"}, {"SIGN-IN FLOW", "authFlowId"}, {"INVITATION FLOW", "invitationFlowId"}, {"SESSION LIFETIME", "sessionLifetime"}, {"SESSION IDLE TIMEOUT", "sessionIdleTimeout"}, {"OAUTH", "inboundAuthConfig"}}
}

type clientListCommand struct {
	Name  string `placeholder:"TEXT" help:"Only applications whose name starts with this."`
	Limit int    `default:"100" help:"The maximum number of applications to list."`
	output
	apiServer
}

// Run lists applications.
func (c clientListCommand) Run(ctx context.Context, p program) error {
	client, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	query := url.Values{}
	if c.Name != "" {
		query.Set("filter", "name sw "+jsonString(c.Name))
	}
	list, err := listPages(ctx, client, "/applications", "applications", query, c.Limit)
	if err != nil {
		return err
	}
	return c.list(p.stdout, list, applicationColumns()...)
}

type clientShowCommand struct {
	output
	oneApplication
}

// Run shows an application.
func (c clientShowCommand) Run(ctx context.Context, p program) error {
	client, app, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(p.stdout, app)
	}
	for _, member := range []string{"authFlowId", "invitationFlowId"} {
		var flow resource
		if app.text(member) == "" {
			continue
		}
		if err := client.Send(ctx, http.MethodGet, "/flows/"+app.text(member), nil, &flow); err == nil {
			app[member] = flow["handle"] // the id stays if the caller may not read flows
		}
	}
	for _, member := range []string{"sessionLifetime", "sessionIdleTimeout"} {
		if text := app.text(member); text != "" {
			app[member] = text + " seconds"
		}
	}
	return c.show(p.stdout, app, append(applicationColumns(), append(applicationDetails(), column{"FORMER SECRET UNTIL", "formerSecretExpiresAt"})...)...)
}

type clientCreateCommand struct {
	Name       string     `arg:"" help:"{{application_name}}"`
	Type       clientType `placeholder:"TYPE" help:"spa: runs in the browser. web: runs on a server, with users. native: runs on a device. service: runs without users. Required without --stack."`
	Stack      stack      `placeholder:"STACK" help:"Choose the type and the usual addresses for a stack, and print code with the values of the application: ${stacks}."`
	Redirect   []string   `sep:"none" placeholder:"URI" help:"{{application_redirectUris}} Required unless the type is service; with --stack the default is the usual address on this machine."`
	PostLogout []string   `sep:"none" placeholder:"URI" help:"{{application_postLogoutRedirectUris}}"`
	NoPKCE     bool       `name:"no-pkce" help:"Accept authorization requests without PKCE, for libraries that do not support it. Only with the type web."`
	Scope      []string   `help:"A scope that the application may request, besides openid, profile and email; for a service, a permission."`
	Claim      []string   `sep:"none" placeholder:"JSON" help:"A claim about users besides those of the scopes, as a JSON object with a name and a source."`
	Flow       string     `placeholder:"HANDLE" help:"{{application_authFlowId}} Default: that of the server."`
	Invitation string     `name:"invitation-flow" placeholder:"HANDLE" help:"{{application_invitationFlowId}} Default: none."`
	output
	apiServer
}

// document returns the application as the API expects it.
func (c clientCreateCommand) document() (map[string]any, error) {
	config := map[string]any{"grantTypes": []string{"authorization_code", "refresh_token"}, "redirectUris": c.Redirect, "pkceRequired": true,
		"scopes": append([]string{"openid", "profile", "email"}, c.Scope...)}
	if len(c.PostLogout) > 0 {
		config["postLogoutRedirectUris"] = c.PostLogout
	}
	if c.NoPKCE && c.Type != "web" {
		return nil, errors.New("--no-pkce is for the type web: PKCE protects the codes of clients without a secret")
	}
	switch c.Type {
	case "service":
		if len(c.Redirect)+len(c.PostLogout) > 0 {
			return nil, errors.New("--redirect and --post-logout are for applications with users: a service has no redirect URI")
		}
		config = map[string]any{"grantTypes": []string{"client_credentials"}, "scopes": append([]string{}, c.Scope...)}
	case "web":
		config["pkceRequired"] = !c.NoPKCE
	default:
		config["tokenEndpointAuthMethod"], config["publicClient"] = "none", true
	}
	if err := c.addClaims(config); err != nil {
		return nil, err
	}
	if c.Type != "service" && len(c.Redirect) == 0 {
		return nil, fmt.Errorf("--redirect is required with --type %s: the address to which the server sends the browser after the sign-in, such as https://app.example.com/callback", c.Type)
	}
	document := map[string]any{"name": c.Name, "type": c.Type.apiType(), "inboundAuthConfig": []any{map[string]any{"type": "oauth2", "config": config}}}
	if c.Flow != "" {
		document["authFlowId"] = c.Flow
	}
	if c.Invitation != "" {
		document["invitationFlowId"] = c.Invitation
	}
	return document, nil
}

// addClaims adds the values of --claim to an OAuth configuration. The server checks their members.
func (c clientCreateCommand) addClaims(config map[string]any) error {
	var claims []json.RawMessage
	for _, text := range c.Claim {
		if !json.Valid([]byte(text)) {
			return fmt.Errorf(`--claim %s: expected a JSON object, such as {"name":"policy","source":"groups"}`, text)
		}
		claims = append(claims, json.RawMessage(text))
	}
	if claims != nil {
		config["claims"] = claims
	}
	return nil
}

// Run creates an application.
func (c clientCreateCommand) Run(ctx context.Context, p program) error {
	defaults, err := c.useStack()
	if err != nil {
		return err
	}
	document, err := c.document()
	if err != nil {
		return err
	}
	client, err := c.connect(ctx, p)
	if err != nil {
		return err
	}
	var app resource
	if err := client.Send(ctx, http.MethodPost, "/applications", document, &app); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(p.stdout, app)
	}
	var metadata resource
	if err := client.Send(ctx, http.MethodGet, "/.well-known/openid-configuration", nil, &metadata); err != nil {
		return err
	}
	if c.Stack.Name != "" {
		if err := c.printCode(p.stdout, metadata.text("issuer"), app); err != nil {
			return err
		}
	}
	if err := c.show(p.stdout, resource{"issuer": metadata["issuer"], "id": app["id"], "clientId": clientID(app), "clientSecret": clientSecret(app)},
		column{"issuer", "issuer"}, column{"application", "id"}, column{"client id", "clientId"}, column{"client secret", "clientSecret"}); err != nil {
		return err
	}
	steps := c.nextSteps(metadata, app)
	if c.Stack.Name != "" {
		steps = c.stackSteps(metadata.text("issuer"), app, defaults)
	}
	_, err = fmt.Fprint(p.stdout, steps)
	return err
}

// variables returns the shell commands that set the values of a client, for code and the commands of pages.
func variables(issuer, clientID, clientSecret string) string {
	text := fmt.Sprintf("\nexport ISSUER=%s\nexport CLIENT_ID=%s\n", shellQuote(issuer), shellQuote(clientID))
	if clientSecret != "" {
		text += fmt.Sprintf("export CLIENT_SECRET=%s\n", shellQuote(clientSecret))
	}
	return text + "\n"
}

// shellQuote quotes a text of a server for a shell.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(printable(text), "'", `'\''`) + "'"
}

const keepSecret = "- Save the client secret now: it is shown once. `postern app rotate-secret` replaces it.\n"

// clientID returns the client id, which is also a member of the OAuth configuration.
func clientID(app resource) string { return oauthText(app, "clientId") }

func clientSecret(app resource) string { return oauthText(app, "clientSecret") }

func oauthText(app resource, member string) string {
	if text := app.text(member); text != "" {
		return text
	}
	list, _ := app["inboundAuthConfig"].([]any)
	for _, item := range list {
		entry, _ := item.(map[string]any)
		if text := resource(entry).text("config." + member); text != "" {
			return text
		}
	}
	return ""
}

// nextSteps describes what to do with a new client.
func (c clientCreateCommand) nextSteps(metadata, app resource) string {
	var b strings.Builder
	b.WriteString("\nNext steps:\n")
	if clientSecret(app) != "" {
		b.WriteString(keepSecret)
	}
	b.WriteString("- Set these variables for the commands below, and for the examples:\n" + variables(metadata.text("issuer"), clientID(app), clientSecret(app)))
	if c.Type == "service" {
		c.serviceSteps(&b, metadata.text("token_endpoint"))
		return b.String()
	}
	fmt.Fprintf(&b, "- Configure an OpenID Connect library with the issuer and the client id; it finds the rest at %s/.well-known/openid-configuration\n", metadata.text("issuer"))
	query := url.Values{"client_id": {clientID(app)}, "response_type": {"code"}, "scope": {strings.Join(append([]string{"openid"}, c.Scope...), " ")}, "redirect_uri": {c.Redirect[0]}}
	fmt.Fprintf(&b, "- The library sends the browser to %s?%s with a code_challenge (PKCE, S256).\n", metadata.text("authorization_endpoint"), query.Encode())
	return b.String()
}

// serviceSteps describes how a service gets a token. Without a resource, it is for the API of the server.
func (c clientCreateCommand) serviceSteps(b *strings.Builder, tokenEndpoint string) {
	own := slices.ContainsFunc(c.Scope, func(scope string) bool { return scope != "system" && !strings.HasPrefix(scope, "system:") })
	resource := ""
	if own {
		resource = " -d resource=IDENTIFIER"
	}
	fmt.Fprintf(b, "- Get a token: curl -u \"$CLIENT_ID:$CLIENT_SECRET\" -d grant_type=client_credentials%s %s\n", resource, tokenEndpoint)
	switch {
	case len(c.Scope) == 0:
		b.WriteString("- To let it use this server's API, create it with permissions as --scope, and assign it a role with them.\n")
	case own:
		b.WriteString("- IDENTIFIER is that of the resource server with the permissions, such as https://api.example.org.\n")
	default:
		b.WriteString("- To let it use this server's API, assign it a role with the permissions of its scopes.\n")
	}
}

type clientSecretCommand struct {
	confirmation
	Overlap      *time.Duration `placeholder:"24h" help:"How long the old secret works besides the new one; 0 ends it at once. Default: 24h."`
	RevokeTokens bool           `help:"Revoke all tokens of the application, and end the old secret at once: it has leaked."`
	output
	oneApplication
}

// ends lists what ends with the replacement of the secret: the current one works for a time, an older one does not.
func (c clientSecretCommand) ends(app resource) (list []string) {
	if until := app.text("formerSecretExpiresAt"); until != "" {
		list = append(list, "the end of the secret before, which would work until "+printable(until))
	}
	if c.RevokeTokens {
		list = append(list, "the revocation of all its tokens")
	}
	return list
}

// Run replaces the client secret.
func (c clientSecretCommand) Run(ctx context.Context, p program) error {
	client, app, err := c.find(ctx, p)
	if err != nil {
		return err
	}
	if ends := c.ends(app); len(ends) > 0 || c.DryRun {
		if ok, err := c.confirm(p, "replace the client secret of "+printable(app.text("name")), ends); !ok {
			return err
		}
	}
	request := map[string]any{"revokeTokens": c.RevokeTokens}
	if c.Overlap != nil {
		request["overlap"] = int64(c.Overlap.Seconds())
	}
	var reply resource
	if err := client.Send(ctx, http.MethodPost, "/applications/"+app.text("id")+"/client-secret", request, &reply); err != nil {
		return err
	}
	if c.JSON {
		return writeJSON(p.stdout, reply)
	}
	if err := c.show(p.stdout, resource{"clientId": clientID(app), "clientSecret": clientSecret(reply)}, column{"client id", "clientId"}, column{"client secret", "clientSecret"}); err != nil {
		return err
	}
	former := "The old secret has ended."
	if until := reply.text("formerSecretExpiresAt"); until != "" {
		former = "The old secret works until " + printable(until) + ". If it has leaked, run the command again with --revoke-tokens."
	}
	_, err = fmt.Fprintf(p.stdout, "\nexport CLIENT_SECRET=%s\n\n%s\n", shellQuote(clientSecret(reply)), former)
	return err
}
