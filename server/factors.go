package server

import (
	"net/http"
	"time"

	"github.com/gorilla/mux"

	"github.com/postern-id/postern/internal/directory"
)

// factorResponse describes a second factor without its secret.
type factorResponse struct {
	Type       string     `json:"type"` // totp or recovery-codes
	CreatedAt  time.Time  `json:"createdAt"`
	LastUsedAt *time.Time `json:"lastUsedAt,omitempty"` // of totp
	Total      int        `json:"total,omitempty"`      // recovery codes issued
	Left       *int       `json:"left,omitempty"`       // recovery codes left
}

// factors handles GET /users/me/factors and GET /users/{id}/factors.
func (s *server) factors(w http.ResponseWriter, r *http.Request, c *caller) error {
	found, err := s.Directory.Factors(r.Context(), c.Call, userOf(r, c))
	if err != nil {
		return err
	}
	list := []any{}
	if app := found.TOTP; app != nil {
		list = append(list, factorResponse{Type: directory.TOTPFactor, CreatedAt: app.CreatedAt, LastUsedAt: app.LastUsedAt})
	}
	if codes := found.RecoveryCodes; codes != nil {
		list = append(list, factorResponse{Type: directory.RecoveryCodesFactor, CreatedAt: codes.CreatedAt, Total: codes.Total, Left: &codes.Left})
	}
	page, err := s.pageOf(r, "factors", list)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, page)
}

// deleteFactor handles DELETE …/factors/{factor}.
func (s *server) deleteFactor(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := s.Directory.DeleteFactor(r.Context(), c.Call, userOf(r, c), mux.Vars(r)["factor"]); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
