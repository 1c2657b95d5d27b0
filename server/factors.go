package server

import (
	"context"
	"time"

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

// factors lists the second factors of a user.
func (s *server) factors(ctx context.Context, c *caller, userID string) ([]any, error) {
	found, err := s.Directory.Factors(ctx, c.Call, userID)
	if err != nil {
		return nil, err
	}
	list := []any{}
	if app := found.TOTP; app != nil {
		list = append(list, factorResponse{Type: directory.TOTPFactor, CreatedAt: app.CreatedAt, LastUsedAt: app.LastUsedAt})
	}
	if codes := found.RecoveryCodes; codes != nil {
		list = append(list, factorResponse{Type: directory.RecoveryCodesFactor, CreatedAt: codes.CreatedAt, Total: codes.Total, Left: &codes.Left})
	}
	return list, nil
}
