package main

import (
	"net/http"
	"net/netip"
	"net/url"

	"github.com/postern-id/postern/internal/config"
)

// hasLocalURL reports whether the public URL names this machine.
func hasLocalURL(cfg *config.Config) bool {
	public, err := url.Parse(cfg.Server.PublicURL)
	return err == nil && isLoopback(public.Hostname())
}

// localOnly rejects requests from other machines, requests through a proxy, and those of web pages
// whose name resolves to this machine (DNS rebinding). The development mailbox shows every code.
func localOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isLocalRequest(r) {
			w.Header().Set("Cache-Control", "no-store")
			http.Error(w, "the mailbox is available only to browsers on the machine of the server, without a proxy, at the address localhost", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func isLocalRequest(r *http.Request) bool {
	for _, field := range []string{"Forwarded", "Via", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip"} {
		if len(r.Header.Values(field)) > 0 {
			return false
		}
	}
	source, err := netip.ParseAddrPort(r.RemoteAddr)
	host := (&url.URL{Host: r.Host}).Hostname() // without a port, and without the brackets of an IPv6 address
	return err == nil && source.Addr().Unmap().IsLoopback() && isLoopback(host)
}
