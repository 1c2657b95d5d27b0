package server

import (
	"net/http"

	"github.com/postern-id/postern/internal/config"
)

type settingList struct {
	Settings []config.Setting `json:"settings"`
}

// configuration handles GET /configuration.
func (s *server) configuration(w http.ResponseWriter, _ *http.Request, _ *caller) error {
	return writeJSON(w, http.StatusOK, settingList{append([]config.Setting{}, s.Settings...)})
}
