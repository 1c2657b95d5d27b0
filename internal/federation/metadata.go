package federation

import (
	"context"
	"fmt"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"
)

const (
	// metadataTTL is how long metadata is cached, and staleTTL how long it is used if it
	// cannot be fetched again.
	metadataTTL = time.Hour
	staleTTL    = 24 * time.Hour
	// retryAfter is the pause after a failed fetch.
	retryAfter = 10 * time.Second
	// maxProviders is the maximum number of cached providers.
	maxProviders = 1000
)

// metadata is a provider's metadata: OpenID Connect Discovery 1.0 §3.
type metadata struct {
	authorization *url.URL
	token, keys   string
	userinfo      string // "" for none, or an invalid one
	// namesIssuer means that each response identifies the provider: RFC 9207 §3.
	namesIssuer bool
}

// metadataCache caches the metadata of providers.
type metadataCache struct {
	mu      sync.Mutex
	entries map[string]*entry // by issuer
}

// entry is the cache entry of a provider. Concurrent callers wait for one fetch, which is
// bounded in time; callers after a failure do not wait.
type entry struct {
	mu    sync.Mutex
	known *metadata
	read  time.Time // when known was read
	tried time.Time // when the last fetch failed, zero if it succeeded
	err   error
}

// metadata returns the provider's metadata.
func (c *Client) metadata(ctx context.Context, issuer string, now time.Time) (*metadata, error) {
	e := c.providers.entry(issuer)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known != nil && now.Sub(e.read) < metadataTTL {
		return e.known, nil
	}
	if e.err == nil || now.Sub(e.tried) >= retryAfter {
		// The fetch continues if the request that caused it is canceled, for the other
		// callers.
		found, err := c.discover(context.WithoutCancel(ctx), issuer)
		if err == nil {
			e.known, e.read, e.err = found, now, nil
			return found, nil
		}
		e.tried, e.err = now, err
	}
	if e.known != nil && now.Sub(e.read) < staleTTL {
		return e.known, nil
	}
	return nil, e.err
}

// CheckIssuer fetches the metadata of an issuer, also if it is cached. The error is an [*Error]. It wraps an
// error of the class [schemas.Unavailable] if the provider did not reply.
func (c *Client) CheckIssuer(ctx context.Context, issuer string) error {
	_, err := c.discover(ctx, issuer)
	return err
}

// discover fetches the metadata.
func (c *Client) discover(ctx context.Context, issuer string) (*metadata, error) {
	address := strings.TrimSuffix(issuer, "/") + "/.well-known/openid-configuration"
	reply, err := c.get(ctx, address)
	if err != nil {
		return nil, unreachable("the provider's configuration at "+address, err)
	}
	return readMetadata(issuer, reply)
}

// get reads the document at an address. A redirect is an error: the administrator or the
// provider chose the address.
func (c *Client) get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return nil, failf(CheckMetadata, "an address of the provider is invalid")
	}
	req.Header.Set("Accept", "application/json")
	reply, err := c.requester.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	if reply.Status != http.StatusOK {
		return nil, fmt.Errorf("expected the status 200, got %d", reply.Status)
	}
	return reply.Body, nil
}

// readMetadata parses the document. Its issuer must equal the requested one, byte by byte:
// otherwise one provider could act as another (§4.3).
func readMetadata(issuer string, text []byte) (*metadata, error) {
	doc, err := readObject(text)
	if err != nil {
		return nil, failf(CheckMetadata, "the provider's configuration: %v", err)
	}
	if doc.text("issuer") != issuer {
		return nil, failf(CheckMetadata, "the configuration at %s has the issuer %.200q: configure exactly that issuer", issuer, doc.text("issuer"))
	}
	m := &metadata{token: doc.text("token_endpoint"), keys: doc.text("jwks_uri"), namesIssuer: doc.flag("authorization_response_iss_parameter_supported")}
	if m.authorization, err = endpoint(doc, "authorization_endpoint"); err != nil {
		return nil, err
	}
	for _, name := range []string{"token_endpoint", "jwks_uri"} {
		if _, err := endpoint(doc, name); err != nil {
			return nil, err
		}
	}
	if _, err := endpoint(doc, "userinfo_endpoint"); err == nil {
		m.userinfo = doc.text("userinfo_endpoint")
	}
	return m, nil
}

// endpoint returns an address that browsers or this server request: https, or http on
// loopback. A browser might execute other schemes.
func endpoint(doc object, name string) (*url.URL, error) {
	text := doc.text(name)
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Opaque != "" || u.User != nil || u.Fragment != "" || strings.ContainsAny(text, "\\#") ||
		u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) {
		return nil, failf(CheckMetadata, "expected the provider's %s to be an https URL without a user or a fragment", name)
	}
	return u, nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// entry returns the entry of an issuer. Beyond the maximum it evicts an arbitrary entry.
func (c *metadataCache) entry(issuer string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.entries[issuer]; known != nil {
		return known
	}
	if c.entries == nil {
		c.entries = map[string]*entry{}
	}
	if len(c.entries) >= maxProviders {
		for any := range c.entries {
			delete(c.entries, any)
			break
		}
	}
	known := &entry{}
	c.entries[issuer] = known
	return known
}
