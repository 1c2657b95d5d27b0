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
	"time"

	"github.com/postern-id/postern/schemas"
)

// The codes of errors.
const (
	// CodeRefused is that of an address that may not be asked. The class is Invalid:
	// who named the address has to name another.
	CodeRefused = "outbound_refused"
	// CodeFailed is that of an address that did not answer, or not in time, or with
	// too much. The class is Unavailable: it may do better later.
	CodeFailed = "outbound_failed"
)

// What holds where Rules do not say.
const (
	defaultTimeout     = 5 * time.Second
	defaultMaxBytes    = 64 << 10
	defaultConcurrency = 64
)

// maxHeader bounds the fields of a reply, in bytes.
const maxHeader = 32 << 10

// Rules say what may be asked. The zero Rules allow the public internet, over
// https.
type Rules struct {
	// Hosts are names and Networks are addresses that may be private. They may have
	// any port, and those that are this machine plain http.
	Hosts    []string
	Networks []netip.Prefix
	// Ports may be asked elsewhere; none means 443 and those above 1023.
	Ports []uint16
	// Timeout is for a whole request, to the end of the reply; 0 means 5 s.
	Timeout time.Duration
	// MaxBytes bounds the body of a reply; 0 means 64 KiB.
	MaxBytes int64
	// Redirects is how many are followed. 0 follows none: a redirect is the reply.
	Redirects int
	// MaxConcurrent is how many requests are made at the same time, by all clients that
	// come of one by With; 0 means 64. One host gets an eighth of them at most, so
	// that a slow one holds up nobody else.
	MaxConcurrent int
	// RootCAs are who may have signed the certificates; nil means those that the
	// system trusts.
	RootCAs *x509.CertPool
}

// Client makes requests. It may be used by many goroutines at once.
type Client struct {
	rules    Rules
	hosts    map[string]bool
	resolver *net.Resolver // nil means the system's
	limiter  *limiter
	http     *http.Client
}

// Response is a reply, read to its end.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// New returns a client that keeps to the rules.
func New(rules Rules) *Client {
	return build(rules, nil, newLimiter(cmp.Or(rules.MaxConcurrent, defaultConcurrency)))
}

// With returns a client with other bounds: what adjust changes of the rules. It
// shares with c how many requests are made at once, and may not change MaxConcurrent.
func (c *Client) With(adjust func(*Rules)) *Client {
	rules := c.rules
	adjust(&rules)
	return build(rules, c.resolver, c.limiter)
}

func build(rules Rules, resolver *net.Resolver, line *limiter) *Client {
	rules.Timeout = cmp.Or(rules.Timeout, defaultTimeout)
	rules.MaxBytes = cmp.Or(rules.MaxBytes, defaultMaxBytes)
	c := &Client{rules: rules, hosts: make(map[string]bool), resolver: resolver, limiter: line}
	for _, name := range rules.Hosts {
		c.hosts[lower(name)] = true
	}
	c.http = &http.Client{CheckRedirect: c.redirect, Transport: &http.Transport{
		DialContext:     c.dial,
		TLSClientConfig: &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: rules.RootCAs},
		// One connection for each request: what is asked now is judged now.
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
	}}
	return c
}

// Check judges a URL by what it says, and asks nobody: what Do would refuse before it
// looks for the host.
func (c *Client) Check(text string) error {
	u, err := url.Parse(text)
	if err != nil {
		return unreadable()
	}
	return c.check(u)
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

// Do makes a request. Its Host is that of the URL, whatever it says. The error is
// a *schemas.Error with CodeRefused, CodeFailed or, if too much is asked at once,
// CodeOverloaded; its description says what was wrong and may be told to a client:
// it names no address that a name has resolved to.
func (c *Client) Do(ctx context.Context, req *http.Request) (*Response, error) {
	if err := c.check(req.URL); err != nil {
		return nil, err
	}
	leave, err := c.limiter.acquire(lower(req.URL.Hostname()))
	if err != nil {
		return nil, err
	}
	defer leave()
	ctx, cancel := context.WithTimeout(ctx, c.rules.Timeout)
	defer cancel()
	req = req.Clone(ctx)
	req.Host = ""
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "Postern")
	}
	reply, err := c.http.Do(req)
	if err != nil {
		return nil, c.failed(err)
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(io.LimitReader(reply.Body, c.rules.MaxBytes+1))
	switch {
	case err != nil:
		return nil, c.failed(err)
	case int64(len(body)) > c.rules.MaxBytes:
		return nil, schemas.Errorf(schemas.Unavailable, CodeFailed, "the address answered with more than %d bytes", c.rules.MaxBytes)
	}
	return &Response{Status: reply.StatusCode, Header: reply.Header, Body: body}, nil
}

// redirect is asked before each redirect is followed.
func (c *Client) redirect(req *http.Request, via []*http.Request) error {
	switch {
	case c.rules.Redirects == 0:
		return http.ErrUseLastResponse
	case len(via) > c.rules.Redirects:
		return schemas.Errorf(schemas.Unavailable, CodeFailed, "the address redirects more than %d times", c.rules.Redirects)
	}
	return c.check(req.URL)
}

// failed words an error of a request. What it says of addresses and sockets would
// tell whoever named the URL what is inside.
func (c *Client) failed(err error) error {
	if reported, ok := errors.AsType[*schemas.Error](err); ok {
		return reported
	}
	what := "the address did not answer as expected of an HTTP server"
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
