package server

import (
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
)

// userOf returns the user of a path: the named one, or the token's user for "me".
func userOf(r *http.Request, c *caller) string {
	if id, named := mux.Vars(r)["id"]; named {
		return id
	}
	return c.userID()
}

// self handles GET /users/me.
func (s *server) self(w http.ResponseWriter, r *http.Request, c *caller) error {
	item, err := s.Directory.Users.Get(r.Context(), c.Call, c.userID())
	if err != nil {
		return err
	}
	return answerGet(w, r, item)
}

// passkeyResponse describes a passkey without its keys.
type passkeyResponse struct {
	ID             schemas.Bytes `json:"id"`
	Name           string        `json:"name"`
	CreatedAt      time.Time     `json:"createdAt"`
	LastUsedAt     *time.Time    `json:"lastUsedAt"`    // null: never used
	Authenticator  string        `json:"authenticator"` // model of the authenticator, by its AAGUID; "" if unknown
	AAGUID         string        `json:"aaguid"`
	Transports     []string      `json:"transports"`
	BackedUp       bool          `json:"backedUp"`
	BackupEligible bool          `json:"backupEligible"`
}

func newPasskeyResponse(c *schemas.Credential) passkeyResponse {
	return passkeyResponse{
		ID: c.ID, Name: c.Name, CreatedAt: c.CreatedAt, LastUsedAt: c.LastUsedAt,
		Authenticator: passkey.AuthenticatorName(c.AAGUID), AAGUID: c.AAGUID,
		Transports: append([]string{}, c.Transports...),
		BackedUp:   c.BackupState, BackupEligible: c.BackupEligible,
	}
}

// passkeys handles GET /users/me/passkeys and GET /users/{id}/passkeys.
func (s *server) passkeys(w http.ResponseWriter, r *http.Request, c *caller) error {
	found, err := s.Directory.Passkeys(r.Context(), c.Call, userOf(r, c))
	if err != nil {
		return err
	}
	keys := make([]any, len(found))
	for i := range found {
		keys[i] = newPasskeyResponse(&found[i])
	}
	page, err := s.pageOf(r, "passkeys", keys)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, page)
}

// renameBody is the body of PATCH …/passkeys/{credentialId}.
type renameBody struct {
	Name *string `json:"name"`
}

func (b *renameBody) check() []schemas.Problem {
	if b.Name == nil {
		return []schemas.Problem{missingMember("name", "what the passkey is to be called")}
	}
	return nil
}

// renamePasskey handles PATCH …/passkeys/{credentialId}: only the name can change.
func (s *server) renamePasskey(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, err := credentialID(r)
	if err != nil {
		return err
	}
	var body renameBody
	if err := readJSON(w, r, smallBody, &body); err != nil {
		return err
	}
	renamed, err := s.Directory.RenamePasskey(r.Context(), c.Call, userOf(r, c), id, *body.Name)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, newPasskeyResponse(renamed))
}

// deletePasskey handles DELETE …/passkeys/{credentialId}.
func (s *server) deletePasskey(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, err := credentialID(r)
	if err != nil {
		return err
	}
	if err := s.Directory.DeletePasskey(r.Context(), c.Call, userOf(r, c), id); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// credentialID returns the id of the passkey in the path.
func credentialID(r *http.Request) (schemas.Bytes, error) {
	text := mux.Vars(r)["credentialId"]
	id, err := schemas.ParseBytes(text)
	if err != nil {
		return nil, schemas.Errorf(schemas.NotFound, schemas.CodeCredentialNotFound,
			"there is no passkey with the id %.64q: expected base64url text as the list of passkeys has it", text)
	}
	return id, nil
}
