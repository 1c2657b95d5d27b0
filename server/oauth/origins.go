package oauth

import (
	"context"
	"sync"
	"time"
)

// OriginTrust is the trust in the pages of an origin, as that of a registered redirect URI.
type OriginTrust int

const (
	// UnknownOrigin is the origin of no registered redirect URI.
	UnknownOrigin OriginTrust = iota
	// ClientOrigin is the origin of an untrusted client. Anyone can register one, so its pages get
	// nothing that depends on the cookies or the network address of their visitors.
	ClientOrigin
	// TrustedOrigin is the origin of a trusted application.
	TrustedOrigin
)

// originsTTL is how long the origins of applications are cached. A new application waits that long
// for its first request. A change takes effect on all instances within a second.
const originsTTL = time.Second

// origins caches the origins of all redirect URIs: browsers send a preflight before most requests.
type origins struct {
	mu    sync.Mutex
	until time.Time
	known map[string]OriginTrust
}

// OriginTrust returns how far an origin is trusted. If that fails it is UnknownOrigin. Origins are compared exactly, those
// of loopback addresses too: any port is for the redirect URIs of native apps (RFC 8252 §7.3), and a page at another port
// is of another program of this machine, which may be anyone's.
func (p *Provider) OriginTrust(ctx context.Context, origin string) OriginTrust {
	p.origins.mu.Lock()
	defer p.origins.mu.Unlock()
	if now := p.now(); !now.Before(p.origins.until) {
		vouched, others, err := p.Store.RedirectURIs(ctx)
		if err != nil {
			return UnknownOrigin
		}
		p.origins.until, p.origins.known = now.Add(originsTTL), map[string]OriginTrust{}
		p.origins.add(others, ClientOrigin)
		p.origins.add(vouched, TrustedOrigin) // one of both is trusted
	}
	return p.origins.known[origin]
}

// add records the trust in the origins of redirect URIs.
func (o *origins) add(uris []string, trust OriginTrust) {
	for _, uri := range uris {
		if own := originOf(uri); own != "" {
			o.known[own] = trust
		}
	}
}
