package server

import (
	"context"
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
)

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
	// Limit is the class of the sign-in that added the passkey, if a sign-in with the passkey proves
	// no more than that; "" for no limit.
	Limit string `json:"limit,omitempty"`
	// FormerPassword states that the passkey was added with a password alone that was replaced since.
	FormerPassword bool `json:"formerPassword,omitempty"`
}

func newPasskeyResponse(c *schemas.Credential) passkeyResponse {
	return passkeyResponse{
		ID: c.ID, Name: c.Name, CreatedAt: c.CreatedAt, LastUsedAt: c.LastUsedAt,
		Authenticator: passkey.AuthenticatorName(c.AAGUID), AAGUID: c.AAGUID,
		Transports: append([]string{}, c.Transports...),
		BackedUp:   c.BackupState, BackupEligible: c.BackupEligible, Limit: limitOf(c.AddedBy), FormerPassword: c.AddedBy.IsFormer(),
	}
}

// limitOf returns the class of a provenance that proves less than a passkey can; "" for any other.
func limitOf(by schemas.Provenance) string {
	if schemas.Satisfies(by.ACR, schemas.ACRMultiFactorPR) {
		return ""
	}
	return by.ACR
}

// passkeys lists the passkeys of a user.
func (s *server) passkeys(ctx context.Context, c *caller, userID string) ([]any, error) {
	found, err := s.Directory.Passkeys(ctx, c.Call, userID)
	keys := make([]any, len(found))
	for i := range found {
		keys[i] = newPasskeyResponse(&found[i])
	}
	return keys, err
}

// renameBody is the body of PATCH …/passkeys/{credentialId}.
type renameBody struct {
	Name *string `json:"name"`
}

func (b *renameBody) check() []schemas.Problem {
	if b.Name == nil {
		return []schemas.Problem{missingMember("name", "the new name of the passkey")}
	}
	return nil
}

// renamePasskey handles PATCH …/passkeys/{credentialId}: only the name can change.
func (s *server) renamePasskey(w http.ResponseWriter, r *http.Request, c *caller) error {
	id, err := parseCredentialID(mux.Vars(r)["credentialId"])
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
	if pathID(r) != "" && !c.Permits("system:users:read") {
		return writeNoContent(w, nil) // the passkey has more than the caller has sent
	}
	return writeJSON(w, http.StatusOK, newPasskeyResponse(renamed))
}

func (s *server) deletePasskey(ctx context.Context, c directory.Call, userID, id string) error {
	credential, err := parseCredentialID(id)
	if err != nil {
		return err
	}
	return s.Directory.DeletePasskey(ctx, c, userID, credential)
}

// parseCredentialID returns the id of the passkey in a path.
func parseCredentialID(text string) (schemas.Bytes, error) {
	id, err := schemas.ParseBytes(text)
	if err != nil {
		return nil, schemas.Errorf(schemas.NotFound, schemas.CodeCredentialNotFound,
			"there is no passkey with the id %.64q: expected base64url text as in the list of passkeys", text)
	}
	return id, nil
}
