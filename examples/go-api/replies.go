package main

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// refuse replies with the challenge of RFC 6750, and describes where to get a token.
func (a *api) refuse(w http.ResponseWriter, status int, challenge string) {
	field := fmt.Sprintf("Bearer resource_metadata=%q", a.audience+"/.well-known/oauth-protected-resource")
	if challenge != "" {
		field += ", " + challenge
	}
	w.Header().Set("WWW-Authenticate", field)
	body := map[string]string{"error": http.StatusText(status)}
	if status == http.StatusUnauthorized {
		body["fix"] = fmt.Sprintf("Request an access token from %s with resource=%s, and send it in the header \"Authorization: Bearer TOKEN\".", a.issuer, a.audience)
	}
	reply(w, status, body)
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(body) // fails only if the client has gone
}
