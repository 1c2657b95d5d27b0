package telemetry

import (
	"slices"
	"sync"
)

// Other replaces the values of a label that are not listed, or exceed the limit of the label.
const Other = "other"

// The most combinations of label values that resources of administrators can create. Each is a
// time series that lives until the process ends.
const (
	maxFlows     = 200
	maxFlowEnds  = 1000 // flow and reason
	maxFlowSteps = 2000 // flow, node and outcome
	maxTokens    = 200  // grant and result
)

// admission admits the first distinct keys up to a limit. It is safe for concurrent use.
type admission struct {
	limit int

	mu       sync.RWMutex
	admitted map[[4]string]struct{}
}

func newAdmission(limit int) *admission {
	return &admission{limit: limit, admitted: map[[4]string]struct{}{}}
}

// admit returns the values, or [Other] for each value that is not empty once the limit is reached.
func (a *admission) admit(values ...string) []string {
	var key [4]string
	copy(key[:], values)
	if a.has(key) || a.add(key) {
		return values
	}
	others := make([]string, len(values))
	for i, value := range values {
		if value != "" {
			others[i] = Other
		}
	}
	return others
}

func (a *admission) has(key [4]string) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	_, ok := a.admitted[key]
	return ok
}

func (a *admission) add(key [4]string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, ok := a.admitted[key]; !ok && len(a.admitted) >= a.limit {
		return false
	}
	a.admitted[key] = struct{}{}
	return true
}

// methods are the HTTP methods with a label value of their own.
func methods() []string {
	return []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
}

// oneOf returns the value if it is listed, otherwise [Other].
func oneOf(list []string, value string) string {
	if slices.Contains(list, value) {
		return value
	}
	return Other
}
