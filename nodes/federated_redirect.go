package nodes

import (
	"cmp"
	"context"
	"net/url"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// redirectURI is where a provider sends the browser with its answer: to the hosted
// pages for a run of theirs, or else to the page of the application that drives the
// run itself, among the redirect URIs that it has registered. A run that an
// authorization request has begun, before any page, is for the hosted pages. own
// reports whether the page is the server's own, which passes on the answer as it came.
func (d Deps) redirectURI(ctx context.Context, v *engine.Visit) (uri string, own bool, err error) {
	gate := cmp.Or(d.GateURL, d.BaseURL+"/gate")
	from := v.Request.Origin
	if from == "" && v.AuthRequestID != "" {
		from = originOf(gate)
	}
	if own = from != "" && from == originOf(d.BaseURL); own || from != "" && from == originOf(gate) {
		return gate + "/callback", own, nil
	}
	registered, err := d.redirectURIs(ctx, v.Application)
	if err != nil {
		return "", false, err
	}
	for _, uri := range registered {
		if from == "" || from == originOf(uri) { // without an origin it is no page, but an app on a device
			return uri, false, nil
		}
	}
	return "", false, schemas.Errorf(schemas.Invalid, schemas.CodeFederationRedirect,
		"the application has no redirect URI at the origin %.200q that another identity provider could send the browser back to: "+
			"add one to its redirectUris, and register it with that provider", from)
}

// redirectURIs are those that an application has registered, none if it is no client.
func (d Deps) redirectURIs(ctx context.Context, app *schemas.Application) ([]string, error) {
	if app == nil || app.ClientID == "" {
		return nil, nil
	}
	client, err := d.Clients.Client(ctx, app.ClientID)
	if err != nil || client.OAuth() == nil {
		return nil, err
	}
	return client.OAuth().RedirectURIs, nil
}

// originOf is the origin of a URL as browsers send it, "" if it has none.
func originOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
