package oauth

import (
	"context"
	"sync"
	"time"
)

// originsTTL is how long the origins of applications are taken for known. A new
// application waits that long for its first request.
const originsTTL = 5 * time.Second

// origins remembers the origins of all redirect URIs: browsers ask before most
// requests.
type origins struct {
	mu    sync.Mutex
	until time.Time
	known map[string]bool
}

// ApplicationOrigin reports whether an origin is that of a registered redirect URI.
// If that cannot be told it is not.
func (p *Provider) ApplicationOrigin(ctx context.Context, origin string) bool {
	if !p.authorizes() {
		return false
	}
	p.origins.mu.Lock()
	defer p.origins.mu.Unlock()
	if now := p.now(); !now.Before(p.origins.until) {
		uris, err := p.Authorization.Requests.RedirectURIs(ctx)
		if err != nil {
			return false
		}
		p.origins.until, p.origins.known = now.Add(originsTTL), map[string]bool{}
		for _, uri := range uris {
			if own := originOf(uri); own != "" {
				p.origins.known[own] = true
			}
		}
	}
	return p.origins.known[origin]
}
