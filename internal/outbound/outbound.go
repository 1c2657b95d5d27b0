package outbound

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
)

// The error codes.
const (
	// CodeRefused means that the address is not allowed. The class is Invalid: the caller
	// has to name another address.
	CodeRefused = "outbound_refused"
	// CodeFailed means that the address did not answer, not in time, or with too much. The
	// class is Unavailable: a later request may succeed.
	CodeFailed = "outbound_failed"
)

// The defaults of Rules.
const (
	defaultTimeout     = 5 * time.Second
	defaultMaxBytes    = 64 << 10
	defaultConcurrency = 64
)

// maxHeader is the maximum size of the header of a reply in bytes.
const maxHeader = 32 << 10

// Rules define the allowed requests. The zero Rules allow the public internet over https.
type Rules struct {
	// Hosts are names and Networks are addresses that may be private. Any port is allowed
	// for them, and plain http for those that are this machine.
	Hosts    []string
	Networks []netip.Prefix
	// Timeout applies to a whole request, to the end of the reply; 0 means 5 s.
	Timeout time.Duration
	// MaxBytes is the maximum size of the body of a reply; 0 means 64 KiB.
	MaxBytes int64
	// MaxConcurrent is the number of concurrent requests of a client and all clients
	// derived from it by With; 0 means 64. One host gets at most an eighth of them, so that
	// a slow host does not block others.
	MaxConcurrent int
	// RootCAs are the trusted certificate authorities; nil means the system's.
	RootCAs *x509.CertPool
	// Observe is called before each request that is sent, with its method and host. The function
	// that it returns is called with the status of the reply, 0 without one. Nil means that nothing
	// observes requests.
	Observe func(ctx context.Context, method, host string) (inner context.Context, end func(status int, err error))
}

// Client makes requests. It is safe for concurrent use.
type Client struct {
	rules    Rules
	hosts    map[string]bool
	resolver *net.Resolver // nil means the system's
	places   *throttle.Concurrency
	http     *http.Client
	public   func() *Client // without exceptions
}

// Response is a completely read reply.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// New returns a client with the rules.
func New(rules Rules) *Client {
	return build(rules, nil, newPlaces(cmp.Or(rules.MaxConcurrent, defaultConcurrency)))
}

// With returns a client with the rules as changed by adjust. It shares the limit of
// concurrent requests with c, so adjust must not change MaxConcurrent.
func (c *Client) With(adjust func(*Rules)) *Client {
	rules := c.rules
	adjust(&rules)
	return build(rules, c.resolver, c.places)
}

// newPlaces limits the concurrent requests. One host gets an eighth of all places.
func newPlaces(most int) *throttle.Concurrency {
	const share = 8
	return throttle.NewConcurrency(most, max(1, most/share))
}

func build(rules Rules, resolver *net.Resolver, places *throttle.Concurrency) *Client {
	rules.Timeout = cmp.Or(rules.Timeout, defaultTimeout)
	rules.MaxBytes = cmp.Or(rules.MaxBytes, defaultMaxBytes)
	c := &Client{rules: rules, hosts: make(map[string]bool), resolver: resolver, places: places}
	for _, name := range rules.Hosts {
		c.hosts[lower(name)] = true
	}
	c.http = &http.Client{CheckRedirect: returnRedirect, Transport: &http.Transport{
		DialContext:     c.dial,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: rules.RootCAs},
		// One connection per request: every request is checked at its dial.
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
	}}
	c.public = sync.OnceValue(func() *Client { return c.With(func(r *Rules) { r.Hosts, r.Networks = nil, nil }) })
	return c
}

type onlyPublicKey struct{}

// OnlyPublic returns a context in which Do and Get ignore Hosts and Networks. It is for URLs that no
// administrator has approved.
func OnlyPublic(ctx context.Context) context.Context {
	return context.WithValue(ctx, onlyPublicKey{}, true)
}

// Check checks a URL without any request: it rejects what Do would reject before resolving
// the host.
func (c *Client) Check(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return unreadable()
	}
	return c.check(u)
}

// CheckPublic is Check for a URL that no administrator has approved: Hosts and Networks do not apply. It
// also rejects an address outside the public internet. A name is checked when it is resolved: an earlier
// answer would reveal which names are in Hosts.
func (c *Client) CheckPublic(text string) error {
	c = c.public()
	if err := c.Check(text); err != nil {
		return err
	}
	u, err := url.Parse(text)
	if err != nil {
		return unreadable()
	}
	host := lower(u.Hostname())
	addr, err := netip.ParseAddr(host)
	switch {
	case host == "localhost":
		addr = netip.IPv6Loopback()
	case err != nil:
		return nil
	}
	return c.checkDial(host, netip.AddrPortFrom(addr, 443).String())
}

func unreadable() *schemas.Error {
	return refusedf("the URL cannot be read: expected one such as https://client.example.com/metadata.json")
}

// Get asks for a URL.
func (c *Client) Get(ctx context.Context, address string) (*Response, error) {
	req, err := http.NewRequest(http.MethodGet, address, nil)
	if err != nil {
		return nil, unreadable()
	}
	return c.Do(ctx, req)
}

// Do makes a request. The Host header is that of the URL. The error is a *schemas.Error
// with CodeRefused, CodeFailed or, with too many concurrent requests, CodeOverloaded. Its
// description is safe to show to a client: it contains no address that a name has resolved
// to.
func (c *Client) Do(ctx context.Context, req *http.Request) (*Response, error) {
	if ctx.Value(onlyPublicKey{}) != nil && len(c.rules.Hosts)+len(c.rules.Networks) > 0 {
		c = c.public()
	}
	if err := c.check(req.URL); err != nil {
		return nil, err
	}
	leave, _ := c.places.Acquire(lower(req.URL.Hostname()))
	if leave == nil {
		busy := schemas.Errorf(schemas.Unavailable, schemas.CodeOverloaded, "too many requests to other servers are in progress: try again in a moment")
		busy.RetryAfter = time.Second
		return nil, busy
	}
	defer leave()
	if c.rules.Observe == nil {
		return c.send(ctx, req)
	}
	ctx, end := c.rules.Observe(ctx, req.Method, lower(req.URL.Hostname()))
	reply, err := c.send(ctx, req)
	status := 0
	if reply != nil {
		status = reply.Status
	}
	end(status, err)
	return reply, err
}

// send sends a request that has a place, and reads the reply.
func (c *Client) send(ctx context.Context, req *http.Request) (*Response, error) {
	ctx, cancel := context.WithTimeout(ctx, c.rules.Timeout)
	defer cancel()
	req = req.Clone(ctx)
	req.Host = ""
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "Postern")
	}
	reply, err := c.http.Do(req)
	if err != nil {
		return nil, c.requestError(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(io.LimitReader(reply.Body, c.rules.MaxBytes+1))
	switch {
	case err != nil:
		return nil, c.requestError(err)
	case int64(len(body)) > c.rules.MaxBytes:
		return nil, schemas.Errorf(schemas.Unavailable, CodeFailed, "the address answered with more than %d bytes", c.rules.MaxBytes)
	}
	return &Response{Status: reply.StatusCode, Header: reply.Header, Body: body}, nil
}

// returnRedirect makes a redirect the reply: its address was not chosen by the caller.
func returnRedirect(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// requestError converts an error of a request. The original text has addresses and socket errors,
// which would reveal the internal network to an untrusted party.
func (c *Client) requestError(err error) error {
	if reported, ok := errors.AsType[*schemas.Error](err); ok {
		return reported
	}
	what := "the address did not answer like an HTTP server"
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		what = fmt.Sprintf("the address did not answer within %v", c.rules.Timeout)
	case errors.As(err, &dns):
		what = unspecifiedHost
	case errors.As(err, &certificate):
		what = "the certificate of the host is not trusted, or is for another name"
	}
	reported := schemas.Errorf(schemas.Unavailable, CodeFailed, "%s", what)
	reported.Err = err
	return reported
}

func refusedf(format string, args ...any) *schemas.Error {
	return schemas.Errorf(schemas.Invalid, CodeRefused, format, args...)
}
