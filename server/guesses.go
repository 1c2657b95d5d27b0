package server

import "net/http"

// forgetFailedGuesses handles DELETE /users/{id}/failed-guesses.
func (s *server) forgetFailedGuesses(w http.ResponseWriter, r *http.Request, c *caller) error {
	if err := s.Directory.ForgetFailedGuesses(r.Context(), c.Call, userOf(r, c)); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
