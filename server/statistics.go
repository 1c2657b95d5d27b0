package server

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// statistics is the body of GET /statistics. Each count is of one step, and all lists of steps are
// complete and in order.
type statistics struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
	Step string    `json:"step"`

	SignIns  []statisticsStep `json:"signIns"`  // with an authentication
	Sessions []statisticsStep `json:"sessions"` // sign-ins that only continued a session
	Failures []statisticsStep `json:"failures"` // failed authentications
	// Reasons counts the failed authentications by error code, most frequent first.
	Reasons []statisticsCount `json:"reasons"`
	// Methods counts the authentications by method, most frequent first.
	Methods    []statisticsCount  `json:"methods"`
	Deliveries deliveryStatistics `json:"deliveries"`
	Latency    latencyStatistics  `json:"latency"`
}

type statisticsStep struct {
	At    time.Time `json:"at"`
	Count int       `json:"count"`
}

type statisticsCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

type deliveryStatistics struct {
	Waiting []schemas.QueuedDeliveries `json:"waiting"` // now, by kind
	GivenUp []statisticsStep           `json:"givenUp"`
}

// statisticsSteps are the values of step.
func statisticsSteps() map[string]time.Duration {
	return map[string]time.Duration{"hour": time.Hour, "day": 24 * time.Hour}
}

// maxStatisticsSteps limits the work of a request.
const maxStatisticsSteps = 400

// statistics handles GET /statistics?from&to&step: the numbers of sign-ins, failures and
// deliveries. By default it is the last day by the hour.
func (s *server) statistics(w http.ResponseWriter, r *http.Request, _ *caller) error {
	reply, step, err := s.statisticsRange(r)
	if err != nil {
		return err
	}
	counts, err := s.Audit.EventCounts(r.Context(), reply.From, reply.To, step)
	if err != nil {
		return err
	}
	waiting, err := s.Audit.QueuedDeliveries(r.Context())
	if err != nil {
		return err
	}
	reply.fill(counts, step)
	reply.Deliveries.Waiting = append([]schemas.QueuedDeliveries{}, waiting...)
	reply.Latency = s.latency.read(s.now())
	return writeJSON(w, http.StatusOK, reply)
}

// statisticsRange reads the query. The range begins and ends at full hours, the resolution of the
// counts, and is a multiple of the step.
func (s *server) statisticsRange(r *http.Request) (*statistics, time.Duration, error) {
	q := readQuery(r.URL.Query(), "from", "to", "step")
	reply := &statistics{From: q.timeValue("from"), To: q.timeValue("to"), Step: q.text("step")}
	if reply.Step == "" {
		reply.Step = "hour"
	}
	step := statisticsSteps()[reply.Step]
	if step == 0 {
		q.addProblem("step", "expected hour or day, got %.64q", reply.Step)
		return nil, 0, q.err()
	}
	if reply.To.IsZero() {
		reply.To = s.now().Add(time.Hour)
	}
	reply.To = reply.To.UTC().Truncate(time.Hour)
	if reply.From.IsZero() {
		reply.From = reply.To.Add(-24 * time.Hour)
	}
	reply.From = reply.From.UTC().Truncate(time.Hour)
	steps := (reply.To.Sub(reply.From) + step - 1) / step
	switch {
	case steps < 1:
		q.addProblem("to", "expected a time at least an hour after from")
	case steps > maxStatisticsSteps:
		q.addProblem("from", "expected at most %d steps, got %d: move from and to together, or use a longer step", maxStatisticsSteps, steps)
	}
	reply.To = reply.From.Add(max(steps, 0) * step)
	return reply, step, q.err()
}

// fill distributes the counts.
func (st *statistics) fill(counts []schemas.EventCount, step time.Duration) {
	steps := func() (list []statisticsStep) {
		for at := st.From; at.Before(st.To); at = at.Add(step) {
			list = append(list, statisticsStep{At: at})
		}
		return list
	}
	st.SignIns, st.Sessions, st.Failures, st.Deliveries.GivenUp = steps(), steps(), steps(), steps()
	reasons, methods := map[string]int{}, map[string]int{}
	for _, c := range counts {
		at := int(c.At.Sub(st.From) / step)
		method, isMethod := strings.CutSuffix(c.Action, ".used")
		switch {
		case c.Action == "user.signed_in" && c.Reason == schemas.SessionReason:
			st.Sessions[at].Count += c.Count
		case c.Action == "user.signed_in":
			st.SignIns[at].Count += c.Count
		case c.Action == "attempt.failed", c.Action == "user.sign_in_refused":
			st.Failures[at].Count += c.Count
			reasons[c.Reason] += c.Count
		case c.Action == "delivery.given_up":
			st.Deliveries.GivenUp[at].Count += c.Count
		case isMethod:
			methods[method] += c.Count
		}
	}
	st.Reasons, st.Methods = mostFrequent(reasons), mostFrequent(methods)
}

// mostFrequent returns counts in descending order.
func mostFrequent(counts map[string]int) []statisticsCount {
	list := []statisticsCount{}
	for name, n := range counts {
		list = append(list, statisticsCount{name, n})
	}
	slices.SortFunc(list, func(a, b statisticsCount) int {
		if a.Count != b.Count {
			return b.Count - a.Count
		}
		return strings.Compare(a.Name, b.Name)
	})
	return list
}
