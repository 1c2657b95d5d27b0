package server

import (
	"context"
	"net/http"
)

// exportAccount handles GET /users/me/export: all data of the account, without secrets. It needs a
// recent sign-in, like a change, because a person at an unattended browser could keep the data.
func (s *server) exportAccount(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := s.Directory.MayManageAccount(r.Context(), c.Call, c.userID()); err != nil {
		return err
	}
	user, err := s.Directory.Users.Get(r.Context(), c.Call, c.userID())
	if err != nil {
		return err
	}
	data := map[string]any{"user": user.Value}
	for name, read := range map[string]func(context.Context, *caller, string) ([]any, error){
		"passkeys": s.passkeys, "factors": s.factors, "identities": s.identities, "sessions": s.sessions, "consents": s.consents,
	} {
		if data[name], err = read(r.Context(), c, c.userID()); err != nil {
			return err
		}
	}
	return writeJSON(w, http.StatusOK, data)
}

// deleteAccount handles DELETE /users/me.
func (s *server) deleteAccount(w http.ResponseWriter, r *http.Request, c *caller) error {
	return writeNoContent(w, s.Directory.DeleteAccount(r.Context(), c.Call))
}
