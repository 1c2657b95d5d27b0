package server

import (
	"context"
	"net/http"

	"github.com/gorilla/mux"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/throttle"
)

// userEndpoints returns the endpoints of the parts of users, such as their passkeys: below
// /users/me for the user of the token, and below /users/{id} for administrators.
func (s *server) userEndpoints() []endpoint {
	d := s.Directory
	list := []endpoint{
		{"GET", "/users/me", userToken, s.self, configuredOrigins},
		{"DELETE", "/users/me", userToken, s.deleteAccount, configuredOrigins},
		{"PATCH", "/users/me/profile", userToken, s.updateProfile, configuredOrigins},
		{"PUT", "/users/me/password", userToken, s.setPassword, configuredOrigins},
		{"DELETE", "/users/me/password", userToken, s.removePassword, configuredOrigins},
		{"POST", "/users/me/former-password", userToken, s.decideFormer, configuredOrigins},
		{"POST", "/users/me/factors/totp/start", userToken, s.startTOTP, configuredOrigins},
		{"POST", "/users/me/factors/totp/finish", userToken, s.finishTOTP, configuredOrigins},
		{"POST", "/users/me/factors/recovery-codes/start", userToken, s.startRecoveryCodes, configuredOrigins},
		{"POST", "/users/me/factors/recovery-codes/finish", userToken, s.finishRecoveryCodes, configuredOrigins},
		{"GET", "/users/me/export", userToken, s.exportAccount, configuredOrigins},
		{"POST", "/account/lock", nothing, s.limited(throttle.SignIn, open(s.lockAccount)), configuredOrigins},
		{"DELETE", "/users/{id}/failed-guesses", "system:users:write", s.forgetFailedGuesses, configuredOrigins},
		{"GET", "/users/{id}/sign-in-attempts", "system:users:read", s.signIns, configuredOrigins},
		{"GET", "/users/{id}/access", "system:users:read", s.access, configuredOrigins},
		{"GET", "/users/{id}/applications", "system:users:read", s.listParts("applications", s.admitting), configuredOrigins},
		{"PUT", "/users/{id}/attribute-owners/{attribute}", "system:users:write", s.setAttributeOwner, configuredOrigins},
		{"DELETE", "/users/{id}/attribute-owners/{attribute}", "system:users:write", s.releaseAttribute, configuredOrigins},
		{"GET", "/users/{id}/invitation", "system:users:read", s.invitation, configuredOrigins},
		{"POST", "/users/{id}/invitation", "system:users:write", s.invite, configuredOrigins},
		{"DELETE", "/users/{id}/invitation", "system:users:write", s.withdrawInvitation, configuredOrigins},
	}
	for _, part := range []struct {
		method, path string
		handle       handler
	}{
		{"GET", "/profile", s.profile},
		{"GET", "/passkeys", s.listParts("passkeys", s.passkeys)},
		{"PATCH", "/passkeys/{credentialId}", s.renamePasskey},
		{"DELETE", "/passkeys/{credentialId}", removePart(s.deletePasskey)},
		{"GET", "/factors", s.listParts("factors", s.factors)},
		{"DELETE", "/factors/{factor}", removePart(d.DeleteFactor)},
		{"GET", "/former-password", s.listParts(formerPlural, s.formerAdditions)},
		{"GET", "/identities", s.listParts("identities", s.identities)},
		{"DELETE", "/identities/{identityId}", removePart(d.DeleteIdentity)},
		{"GET", "/attribute-owners", s.listParts(ownersPlural, s.attributeOwners)},
		{"GET", "/sessions", s.listParts("sessions", s.sessions)},
		{"DELETE", "/sessions", s.endSessions},
		{"DELETE", "/sessions/{sid}", removePart(d.EndSession)},
		{"GET", "/consents", s.listParts("consents", s.consents)},
		{"DELETE", "/consents/{applicationId}", removePart(d.RevokeConsent)},
	} {
		permission := need("system:users:write")
		if part.method == http.MethodGet {
			permission = "system:users:read"
		}
		list = append(list,
			endpoint{part.method, "/users/me" + part.path, userToken, part.handle, configuredOrigins},
			endpoint{part.method, "/users/{id}" + part.path, permission, part.handle, configuredOrigins})
	}
	return list
}

// userOf returns the user of a path: the named one, or the token's user for "me".
func userOf(r *http.Request, c *caller) string {
	if id, named := mux.Vars(r)["id"]; named {
		return id
	}
	return c.userID()
}

// listParts returns the handler of a list of parts of a user. read returns the parts in the form of
// the reply.
func (s *server) listParts(plural string, read func(ctx context.Context, c *caller, userID string) ([]any, error)) handler {
	return func(w http.ResponseWriter, r *http.Request, c *caller) error {
		parts, err := read(r.Context(), c, userOf(r, c))
		if err != nil {
			return err
		}
		page, err := s.pageOf(r, plural, parts)
		return writeResult(w, page, err)
	}
}

// removePart returns the handler that removes the part of a user whose id is the last variable of
// the path.
func removePart(remove func(ctx context.Context, c directory.Call, userID, id string) error) handler {
	return func(w http.ResponseWriter, r *http.Request, c *caller) error {
		id := ""
		for name, value := range mux.Vars(r) {
			if name != "id" {
				id = value
			}
		}
		return writeNoContent(w, remove(r.Context(), c.Call, userOf(r, c), id))
	}
}

// self handles GET /users/me.
func (s *server) self(w http.ResponseWriter, r *http.Request, c *caller) error {
	item, err := s.Directory.Users.Get(r.Context(), c.Call, c.userID())
	return answerGet(w, r, item, err)
}

// access handles GET /users/{id}/access.
func (s *server) access(w http.ResponseWriter, r *http.Request, c *caller) error {
	access, err := s.Directory.Access(r.Context(), c.Call, pathID(r))
	return writeResult(w, access, err)
}

// admittingResponse describes an application to which a user may sign in.
type admittingResponse struct {
	ID               string `json:"id"`
	Name             string `json:"name"`
	ClientID         string `json:"clientId,omitempty"`
	InvitationFlowID string `json:"invitationFlowId,omitempty"`
}

// admitting lists the applications to which a user may sign in.
func (s *server) admitting(ctx context.Context, c *caller, userID string) ([]any, error) {
	found, err := s.Directory.AdmittingApplications(ctx, c.Call, userID)
	list := make([]any, len(found))
	for i, a := range found {
		list[i] = admittingResponse{a.ID, a.Name, a.ClientID, a.InvitationFlowID}
	}
	return list, err
}

// forgetFailedGuesses handles DELETE /users/{id}/failed-guesses.
func (s *server) forgetFailedGuesses(w http.ResponseWriter, r *http.Request, c *caller) error {
	return writeNoContent(w, s.Directory.ForgetFailedGuesses(r.Context(), c.Call, pathID(r)))
}
