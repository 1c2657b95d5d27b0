package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"github.com/coreos/go-oidc/v3/oidc"
)

// errUnavailable means that the server did not answer, and not that the token is invalid.
var errUnavailable = errors.New("cannot ask the server about the token")

// introspector asks the server about each token (RFC 7662), so that revoked tokens are rejected at once.
type introspector struct {
	client                 *http.Client
	endpoint               string
	clientID, clientSecret string // of this API
	audience               string
}

func newIntrospector(provider *oidc.Provider, client *http.Client, audience string) (*introspector, error) {
	i := &introspector{client: client, audience: audience, clientID: os.Getenv("CLIENT_ID"), clientSecret: os.Getenv("CLIENT_SECRET")}
	if i.clientID == "" || i.clientSecret == "" {
		return nil, errors.New("with INTROSPECT=true, set CLIENT_ID and CLIENT_SECRET: this API asks the server with a client of its own")
	}
	var metadata struct {
		Endpoint string `json:"introspection_endpoint"`
	}
	if err := provider.Claims(&metadata); err != nil {
		return nil, err
	}
	if metadata.Endpoint == "" {
		return nil, errors.New("the metadata of the server has no introspection_endpoint")
	}
	i.endpoint = metadata.Endpoint
	return i, nil
}

// verify checks an access token. The server reports tokens of other APIs and ID tokens as inactive.
func (i *introspector) verify(ctx context.Context, raw string) (c caller, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, i.endpoint, strings.NewReader(url.Values{"token": {raw}}.Encode()))
	if err != nil {
		return c, err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	request.SetBasicAuth(url.QueryEscape(i.clientID), url.QueryEscape(i.clientSecret)) // RFC 6749 section 2.3.1
	reply, err := i.client.Do(request)
	if err != nil {
		return c, fmt.Errorf("%w: %w", errUnavailable, err)
	}
	defer reply.Body.Close()
	var token struct {
		caller
		Active   bool     `json:"active"`
		Audience []string `json:"aud"`
	}
	err = json.NewDecoder(io.LimitReader(reply.Body, 64<<10)).Decode(&token)
	switch {
	case reply.StatusCode != http.StatusOK || err != nil:
		return c, fmt.Errorf("%w: %s", errUnavailable, reply.Status)
	case !token.Active:
		return c, errors.New("it is revoked, expired, or not for this API")
	case !slices.Contains(token.Audience, i.audience):
		return c, fmt.Errorf("its audience is %q", token.Audience)
	}
	return token.caller, nil
}
