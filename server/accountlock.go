package server

import (
	"net/http"

	"github.com/postern-id/postern/schemas"
)

// lockRequest is the body of POST /account/lock.
type lockRequest struct {
	Token *string `json:"token"`
}

func (b *lockRequest) check() []schemas.Problem {
	if b.Token == nil {
		return []schemas.Problem{{Path: "token", Message: "required: what follows the # in the link of the mail"}}
	}
	return nil
}

// lockAccount handles POST /account/lock: it locks the account of the link in a notice. Mail
// scanners open links, so that no GET has an effect.
func (s *server) lockAccount(w http.ResponseWriter, r *http.Request) error {
	var body lockRequest
	if err := readJSON(w, r, smallBody, &body); err != nil {
		return err
	}
	return writeNoContent(w, s.Directory.LockAccount(r.Context(), text(body.Token), exchangeOf(r).traceID))
}
