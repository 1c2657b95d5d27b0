package server

import "net/http"

// relatedOrigins is GET /.well-known/webauthn, which a browser reads before a
// page of another site may use the relying party id: WebAuthn Level 3 §5.11.
func (s *server) relatedOrigins(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string][]string{"origins": s.Passkeys.Origins()})
}

// passkeyEndpoints is GET /.well-known/passkey-endpoints, by which password
// managers lead people to where they make and see to passkeys: W3C, A Well-Known
// URL for Relying Party Passkey Endpoints.
func (s *server) passkeyEndpoints(w http.ResponseWriter, _ *http.Request) error {
	places := map[string]string{}
	if s.AccountPage != "" {
		places["enroll"], places["manage"] = s.AccountPage, s.AccountPage
	}
	return writeJSON(w, http.StatusOK, places)
}
