package telemetry

import (
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
)

// Profiles serves the profiles of net/http/pprof below /debug/pprof/. Unless remote is set it
// serves only requests for a loopback host: a page whose name resolves to this machine must not
// read profiles, because the heap contains secrets.
func Profiles(remote bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !remote && !isLoopback(r.Host) {
			http.Error(w, "profiles are served to this machine only: open them at 127.0.0.1, or set telemetry.pprof.allow_remote", http.StatusForbidden)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// isLoopback reports whether a Host header names this machine.
func isLoopback(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}
