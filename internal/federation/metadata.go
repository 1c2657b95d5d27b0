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
	// metadataTTL is how long what a provider says of itself is good, and staleTTL how
	// long it is used where the provider does not say it again.
	metadataTTL = time.Hour
	staleTTL    = 24 * time.Hour
	// retryAfter is how soon a provider is asked again that did not answer.
	retryAfter = 10 * time.Second
	// maxProviders is how many are remembered.
	maxProviders = 1000
)

// metadata is what a provider says of itself: OpenID Connect Discovery 1.0 §3.
type metadata struct {
	authorization *url.URL
	token, keys   string
	// names says that each answer names the provider: RFC 9207 §3.
	names bool
}

// metadataCache remembers what providers say of themselves.
type metadataCache struct {
	mu     sync.Mutex
	listed map[string]*entry // by issuer
}

// entry is one provider. Those who need it at the same time wait for one fetch, which
// is bounded; those who come after one that failed do not wait.
type entry struct {
	mu    sync.Mutex
	known *metadata
	read  time.Time // when known was read
	tried time.Time // when that failed last, zero if not since
	err   error
}

// metadata returns what the provider says of itself.
func (c *Client) metadata(ctx context.Context, issuer string, now time.Time) (*metadata, error) {
	e := c.providers.entry(issuer)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.known != nil && now.Sub(e.read) < metadataTTL {
		return e.known, nil
	}
	if e.err == nil || now.Sub(e.tried) >= retryAfter {
		// Whoever asked first and goes away does not end it for the others.
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

// discover asks the provider.
func (c *Client) discover(ctx context.Context, issuer string) (*metadata, error) {
	reply, err := c.get(ctx, strings.TrimSuffix(issuer, "/")+"/.well-known/openid-configuration")
	if err != nil {
		return nil, unreachable("the provider's configuration", err)
	}
	return readMetadata(issuer, reply)
}

// get reads what is at an address. A redirect is no answer: the address is what an
// administrator, or the provider, has named.
func (c *Client) get(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return nil, failf(CheckMetadata, "an address of the provider cannot be read")
	}
	req.Header.Set("Accept", "application/json")
	reply, err := c.asker.Do(ctx, req)
	if err != nil {
		return nil, err
	}
	if reply.Status != http.StatusOK {
		return nil, fmt.Errorf("expected the status 200, got %d", reply.Status)
	}
	return reply.Body, nil
}

// readMetadata reads the document. The issuer in it is the one that was asked, octet
// by octet: else one provider could speak for another (§4.3).
func readMetadata(issuer string, text []byte) (*metadata, error) {
	doc, err := readObject(text)
	if err != nil {
		return nil, failf(CheckMetadata, "the provider's configuration: %v", err)
	}
	if doc.text("issuer") != issuer {
		return nil, failf(CheckMetadata, "the configuration at %s is of the issuer %.200q: set exactly what the provider calls itself", issuer, doc.text("issuer"))
	}
	m := &metadata{token: doc.text("token_endpoint"), keys: doc.text("jwks_uri"), names: doc.flag("authorization_response_iss_parameter_supported")}
	if m.authorization, err = endpoint(doc, "authorization_endpoint"); err != nil {
		return nil, err
	}
	for _, name := range []string{"token_endpoint", "jwks_uri"} {
		if _, err := endpoint(doc, name); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// endpoint reads an address that browsers are sent to, or that is asked: https, or
// http on this machine. Anything else a browser might run.
func endpoint(doc object, name string) (*url.URL, error) {
	text := doc.text(name)
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Opaque != "" || u.User != nil || u.Fragment != "" || strings.ContainsAny(text, "\\#") ||
		u.Scheme != "https" && !(u.Scheme == "http" && isLoopback(u.Hostname())) {
		return nil, failf(CheckMetadata, "expected as %s of the provider an https URL without a user or a fragment", name)
	}
	return u, nil
}

func isLoopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.IsLoopback()
}

// entry returns what is known of an issuer. Of too many one is forgotten, whichever.
func (c *metadataCache) entry(issuer string) *entry {
	c.mu.Lock()
	defer c.mu.Unlock()
	if known := c.listed[issuer]; known != nil {
		return known
	}
	if c.listed == nil {
		c.listed = map[string]*entry{}
	}
	if len(c.listed) >= maxProviders {
		for any := range c.listed {
			delete(c.listed, any)
			break
		}
	}
	known := &entry{}
	c.listed[issuer] = known
	return known
}
