package server

import "net/http"

// relatedOrigins handles GET /.well-known/webauthn, which a browser reads before a page of another
// site can use the relying party id: WebAuthn Level 3 §5.11.
func (s *server) relatedOrigins(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, map[string][]string{"origins": s.Passkeys.Origins()})
}

// passkeyEndpoints handles GET /.well-known/passkey-endpoints, with which password managers find
// the page for managing passkeys: W3C, A Well-Known URL for Relying Party Passkey Endpoints.
func (s *server) passkeyEndpoints(w http.ResponseWriter, _ *http.Request) error {
	places := map[string]string{}
	if s.AccountPage != "" {
		places["enroll"], places["manage"] = s.AccountPage, s.AccountPage
	}
	return writeJSON(w, http.StatusOK, places)
}
