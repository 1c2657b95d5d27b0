package server

import (
	"fmt"
	"net/http"
)

// verifyAudit handles GET /audit-verification?after&expect: it verifies the next part of the audit
// log, so that one request has a bounded cost.
func (s *server) verifyAudit(w http.ResponseWriter, r *http.Request, _ *caller) error {
	q := readQuery(r.URL.Query(), "after", "expect")
	if err := q.err(); err != nil {
		return err
	}
	if s.VerifyAudit == nil {
		return fmt.Errorf("the audit log of this server cannot be verified")
	}
	found, err := s.VerifyAudit(r.Context(), q.text("after"), q.text("expect"))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, found)
}
