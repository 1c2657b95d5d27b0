package server

import "net/http"

// relatedOrigins is GET /.well-known/webauthn, which a browser reads before a
// page of another site may use the relying party id: WebAuthn Level 3 §5.11.
func (s *server) relatedOrigins(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string][]string{"origins": s.Passkeys.Origins()})
}
