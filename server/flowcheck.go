package server

import (
	"net/http"

	"github.com/postern-id/postern/schemas"
)

// checkResult is the body of POST /flows/check. A valid flow can have findings that are warnings.
type checkResult struct {
	Valid    bool              `json:"valid"`
	Findings []schemas.Problem `json:"findings"`
}

// checkFlow handles POST /flows/check: the findings about a definition are the reply, not an error.
// The definition may use stored sub-flows. Nothing is stored.
func (s *server) checkFlow(w http.ResponseWriter, r *http.Request, c *caller) error {
	text, kind, err := readBody(w, r, resourceBody, jsonType, yamlType)
	if err != nil {
		return err
	}
	flow, problems, err := s.Directory.CheckFlowText(r.Context(), c.Call, text, kind == yamlType)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, checkResult{flow != nil, append([]schemas.Problem{}, problems...)})
}

// checkedSystem handles GET /flows/system: the data for a check, for clients that check flows
// themselves at each keystroke.
func (s *server) checkedSystem(w http.ResponseWriter, r *http.Request, c *caller) error {
	system, err := s.Directory.CheckedSystem(r.Context(), c.Call)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, system)
}

// flowChains handles GET /flows/chains: the weakest chains of runs that reach each application,
// as package chains describes them.
func (s *server) flowChains(w http.ResponseWriter, r *http.Request, c *caller) error {
	report, err := s.Directory.Chains(r.Context(), c.Call)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, report)
}
