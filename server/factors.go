package server

import (
	"context"
	"net/http"
	"time"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// factorResponse describes a second factor without its secret.
type factorResponse struct {
	Type       string     `json:"type"` // totp or recovery-codes
	CreatedAt  time.Time  `json:"createdAt"`
	LastUsedAt *time.Time `json:"lastUsedAt,omitempty"` // of totp
	Total      int        `json:"total,omitempty"`      // recovery codes issued
	Left       *int       `json:"left,omitempty"`       // recovery codes left
	Limit      string     `json:"limit,omitempty"`      // the class of the sign-in that added it, if it could prove more
	// FormerPassword states that the factor was added with a password alone that was replaced since.
	FormerPassword bool `json:"formerPassword,omitempty"`
	// DisabledAt is when too many wrong codes had been entered: new browsers cannot use the factor.
	DisabledAt *time.Time `json:"disabledAt,omitempty"`
}

// factors lists the second factors of a user.
func (s *server) factors(ctx context.Context, c *caller, userID string) ([]any, error) {
	found, err := s.Directory.Factors(ctx, c.Call, userID)
	if err != nil {
		return nil, err
	}
	blocked, err := s.Directory.BlockedSecrets(ctx, c.Call, userID)
	if err != nil {
		return nil, err
	}
	list := []any{}
	if app := found.TOTP; app != nil {
		list = append(list, factorResponse{Type: directory.TOTPFactor, CreatedAt: app.CreatedAt, LastUsedAt: app.LastUsedAt,
			Limit: factorLimit(app.AddedBy, []string{"otp"}, schemas.ACROneTimeCode), FormerPassword: app.AddedBy.IsFormer(), DisabledAt: blockedAt(blocked, schemas.TOTPSecret)})
	}
	if codes := found.RecoveryCodes; codes != nil {
		list = append(list, factorResponse{Type: directory.RecoveryCodesFactor, CreatedAt: codes.CreatedAt, Total: codes.Total, Left: &codes.Left,
			Limit: factorLimit(codes.AddedBy, []string{schemas.AMRRecovery}, schemas.ACRRecovery), FormerPassword: codes.AddedBy.IsFormer(), DisabledAt: blockedAt(blocked, schemas.RecoverySecret)})
	}
	return list, nil
}

// factorLimit returns the class of the sign-in that added a credential, "" if the credential proves all
// that it could.
func factorLimit(by schemas.Provenance, methods []string, acr string) string {
	if _, _, less := by.Limit(methods, acr); less {
		return by.ACR
	}
	return ""
}

// blockedAt returns when a secret was blocked, nil if it is not.
func blockedAt(blocked []schemas.BlockedSecret, secret schemas.GuessedSecret) *time.Time {
	for _, b := range blocked {
		if b.Secret == secret {
			return &b.At
		}
	}
	return nil
}

// startTOTP handles POST /users/me/factors/totp/start. Nothing is stored.
func (s *server) startTOTP(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := s.Directory.MayManageAccount(r.Context(), c.Call, c.userID()); err != nil {
		return err
	}
	user, err := s.Store.User(r.Context(), c.userID())
	if err != nil {
		return err
	}
	offer, err := s.Factors.OfferTOTP(user, s.now())
	return writeResult(w, offer, err)
}

// totpFinish is the body of POST /users/me/factors/totp/finish.
type totpFinish struct {
	SessionToken string `json:"sessionToken"`
	Code         string `json:"code"`
}

func (b *totpFinish) check() []schemas.Problem {
	problems := checkSessionToken(b.SessionToken)
	if b.Code == "" {
		problems = append(problems, schemas.Problem{Path: "code", Message: "This is required."})
	}
	return problems
}

// checkSessionToken reports a missing token of the start of an enrollment.
func checkSessionToken(token string) []schemas.Problem {
	if token == "" {
		return []schemas.Problem{missingMember("sessionToken", "the session token from the reply to the start")}
	}
	return nil
}

// finishTOTP handles POST /users/me/factors/totp/finish.
func (s *server) finishTOTP(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := s.Directory.MayManageAccount(r.Context(), c.Call, c.userID()); err != nil {
		return err
	}
	var body totpFinish
	if err := readJSON(w, r, smallBody, &body); err != nil {
		return err
	}
	app, err := s.Factors.AcceptTOTP(c.userID(), body.SessionToken, body.Code, s.now())
	if err != nil {
		return err
	}
	return writeNoContent(w, s.Directory.SetTOTP(r.Context(), c.Call, *app))
}

// startRecoveryCodes handles POST /users/me/factors/recovery-codes/start. Nothing is stored.
func (s *server) startRecoveryCodes(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := s.Directory.MayManageAccount(r.Context(), c.Call, c.userID()); err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, s.Factors.OfferRecoveryCodes(c.userID(), s.now()))
}

// recoveryCodesFinish is the body of POST /users/me/factors/recovery-codes/finish.
type recoveryCodesFinish struct {
	SessionToken string `json:"sessionToken"`
}

func (b *recoveryCodesFinish) check() []schemas.Problem { return checkSessionToken(b.SessionToken) }

// finishRecoveryCodes handles POST /users/me/factors/recovery-codes/finish.
func (s *server) finishRecoveryCodes(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := s.Directory.MayManageAccount(r.Context(), c.Call, c.userID()); err != nil {
		return err
	}
	var body recoveryCodesFinish
	if err := readJSON(w, r, smallBody, &body); err != nil {
		return err
	}
	hashes, err := s.Factors.AcceptRecoveryCodes(c.userID(), body.SessionToken, s.now())
	if err != nil {
		return err
	}
	return writeNoContent(w, s.Directory.SetRecoveryCodes(r.Context(), c.Call, hashes))
}
