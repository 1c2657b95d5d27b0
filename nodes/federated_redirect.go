package nodes

import (
	"cmp"
	"context"
	"net/url"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// redirectURI returns the address to which the provider sends the browser. For a run of the hosted
// pages that is a hosted page; otherwise it is the page of the application that drives the run,
// among its registered redirect URIs. A run that an authorization request started belongs to the
// hosted pages. own reports whether the page is a hosted one, which passes on the answer unchanged.
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
		if from == "" || from == originOf(uri) { // a request without an origin comes from an app on a device
			return uri, false, nil
		}
	}
	return "", false, schemas.Errorf(schemas.Invalid, schemas.CodeFederationRedirect,
		"the application has no redirect URI at the origin %.200q that the identity provider can return to: "+
			"add one to its redirectUris, and register it with that provider", from)
}

// redirectURIs returns the registered redirect URIs of an application, none if it is no client.
func (d Deps) redirectURIs(ctx context.Context, app *schemas.Application) ([]string, error) {
	if app == nil || app.ClientID == "" {
		return nil, nil
	}
	client, err := d.Directory.Client(ctx, app.ClientID)
	if err != nil || client.OAuth() == nil {
		return nil, err
	}
	return client.OAuth().RedirectURIs, nil
}

// originOf returns the origin of a URL as browsers send it, "" if it has none.
func originOf(text string) string {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
