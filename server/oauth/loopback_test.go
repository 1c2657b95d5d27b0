package oauth_test

import (
	"testing"

	"github.com/postern-id/postern/server/oauth"
)

// A redirect URI of a loopback address stands for every port, and its origin only for its own.
func TestOriginsOfLoopbackRedirects(t *testing.T) {
	s := newUntrustedClients(t)
	s.create(s.directory.Applications, `{"name":"Local","inboundAuthConfig":[{"type":"oauth2","config":{"clientId":"local","publicClient":true,
		"redirectUris":["http://localhost:5173/cb","https://127.0.0.1:8443/cb","http://app.localhost:3000/cb","https://dev.example.com:8443/cb"]}}]}`)
	_, err := s.register(`{"redirect_uris":["http://[::1]:3334/cb"],"token_endpoint_auth_method":"none"}`, nil)
	s.must(err)
	for origin, want := range map[string]oauth.OriginTrust{
		"http://localhost:5173": oauth.TrustedOrigin, "http://localhost:5174": oauth.UnknownOrigin, "http://localhost": oauth.UnknownOrigin,
		"https://localhost:5173": oauth.UnknownOrigin, "http://localhost.example.com:5173": oauth.UnknownOrigin,
		"http://localhost:5173/x": oauth.UnknownOrigin, "http://x@localhost:5173": oauth.UnknownOrigin, "http://LOCALHOST:5173": oauth.UnknownOrigin,
		"https://127.0.0.1:8443": oauth.TrustedOrigin, "https://127.0.0.1:8444": oauth.UnknownOrigin,
		"http://app.localhost:3000": oauth.TrustedOrigin, "http://app.localhost:3001": oauth.UnknownOrigin,
		"https://dev.example.com:8443": oauth.TrustedOrigin, "https://dev.example.com:8444": oauth.UnknownOrigin,
		"http://[::1]:3334": oauth.ClientOrigin, "http://[::1]:3335": oauth.UnknownOrigin, "http://[::2]:3334": oauth.UnknownOrigin, "null": oauth.UnknownOrigin, "http://": oauth.UnknownOrigin,
	} {
		if got := s.provider.OriginTrust(t.Context(), origin); got != want {
			t.Errorf("the trust in %s is %d, want %d", origin, got, want)
		}
	}
}

// The keys of a client may be on this machine; outbound.allow decides whether they are read.
func TestKeysOnThisMachine(t *testing.T) {
	s := newUntrustedClients(t)
	for uri, fine := range map[string]bool{
		"http://localhost:9000/jwks": true, "http://127.0.0.1:9000/jwks": true, "http://[::1]:9000/jwks": true, "https://keys.example.com/jwks": true,
		"http://keys.example.com/jwks": false, "http://localhost.example.com/jwks": false, "http://user@localhost:9000/jwks": false, "ftp://localhost/jwks": false,
	} {
		_, err := s.register(`{"redirect_uris":["https://client.example.com/back"],"token_endpoint_auth_method":"private_key_jwt","jwks_uri":"`+uri+`"}`, nil)
		if (err == nil) != fine {
			t.Errorf("%s: %v", uri, err)
		}
	}
}
