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
	list := settingList{[]config.Setting{}}
	if s.Settings != nil {
		list.Settings = s.Settings()
	}
	return writeJSON(w, http.StatusOK, list)
}
