package server

import (
	"net/http"

	"github.com/postern-id/postern/internal/signins"
)

// signIns handles GET /users/{id}/sign-in-attempts: the state of the account and, for a caller who may
// read the audit log, the latest attempts of the user to sign in.
func (s *server) signIns(w http.ResponseWriter, r *http.Request, c *caller) error {
	user, err := s.Store.User(r.Context(), pathID(r))
	if err != nil {
		return err
	}
	hasMethod, err := s.Directory.HasLoginMethod(r.Context(), c.Call, user.ID)
	if err != nil {
		return err
	}
	blocked, err := s.Directory.BlockedSecrets(r.Context(), c.Call, user.ID)
	if err != nil {
		return err
	}
	report := signins.Report{State: signins.DescribeState(user, hasMethod, s.now())}
	report.AddBlocked(blocked)
	if c.Permits("system:audit:read") {
		err = report.Explain(r.Context(), s.Audit, user.ID)
	}
	return writeResult(w, report, err)
}
