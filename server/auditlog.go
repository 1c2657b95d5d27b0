package server

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// eventList is the body of GET /audit-events. It has no total, because counting the log would cost
// more than reading it.
type eventList struct {
	Count  int             `json:"count"`
	Events []schemas.Event `json:"auditEvents"`
	Links  []link          `json:"links"`
}

// auditEvents handles GET /audit-events: the events with all given values, newest first. The link
// next leads to older ones.
func (s *server) auditEvents(w http.ResponseWriter, r *http.Request, _ *caller) error {
	values := r.URL.Query()
	q, err := eventQuery(values)
	if err != nil {
		return err
	}
	wanted := q.Limit
	q.Limit++ // one more shows whether there are others
	events, more, err := s.Audit.EventPage(r.Context(), q)
	if err != nil {
		return err
	}
	list := eventList{Links: []link{}}
	if len(events) > wanted {
		events = events[:wanted]
		more = schemas.EventKey{At: events[wanted-1].At, ID: events[wanted-1].ID}
	}
	if more != (schemas.EventKey{}) {
		values.Set("before", eventCursor(more))
		list.Links = append(list.Links, link{s.base + r.URL.Path + "?" + values.Encode(), "next"})
	}
	list.Count, list.Events = len(events), append([]schemas.Event{}, events...)
	return writeJSON(w, http.StatusOK, list)
}

// eventFilters returns the names of the parameters that select events.
func eventFilters() []string {
	return []string{"action", "actor", "user", "resourceType", "resource", "application", "executionDigest", "traceId", "from", "to"}
}

// eventQuery reads the filter parameters.
func eventQuery(values url.Values) (schemas.EventQuery, error) {
	q := readQuery(values, append([]string{"limit", "before", "failures"}, eventFilters()...)...)
	wanted := schemas.EventQuery{
		Limit: q.limit(), Before: q.cursor("before"), Action: q.selector("action"), ActorID: q.selector("actor"), UserID: q.selector("user"),
		ResourceType: q.selector("resourceType"), ResourceID: q.selector("resource"), ApplicationID: q.selector("application"),
		ExecutionDigest: q.selector("executionDigest"), TraceID: q.selector("traceId"), From: q.timeValue("from"), To: q.timeValue("to"),
	}
	if failures := q.text("failures"); failures != "" {
		if wanted.Failures = failures == "true"; !wanted.Failures || wanted.Action != "" {
			q.addProblem("failures", "expected true, without an action, got %.64q; leave it out to get all events", failures)
		}
	}
	if !wanted.From.IsZero() && !wanted.To.IsZero() && !wanted.From.Before(wanted.To) {
		q.addProblem("to", "expected a time after from, %s, got %s", q.text("from"), q.text("to"))
	}
	return wanted, q.err()
}

// selector returns the value of a filter parameter, which must not be empty.
func (q *query) selector(name string) string {
	if q.values.Has(name) && q.text(name) == "" {
		q.addProblem(name, "expected a value, got none; leave the parameter out to get all events")
	}
	return q.text(name)
}

// timeValue returns the value of a time parameter.
func (q *query) timeValue(name string) time.Time {
	if !q.values.Has(name) {
		return time.Time{}
	}
	t, err := time.Parse(time.RFC3339, q.text(name))
	if err != nil {
		q.addProblem(name, "expected a time such as 2030-01-02T03:04:05Z (RFC 3339; write + as %%2B), got %.64q", q.text(name))
	}
	return t
}

// eventCursor returns the place of an event in the log: its time in microseconds, in base 36, and
// its id.
func eventCursor(k schemas.EventKey) string {
	return strconv.FormatInt(k.At.UnixMicro(), 36) + "." + k.ID
}

// cursor returns the value of a cursor parameter.
func (q *query) cursor(name string) schemas.EventKey {
	if !q.values.Has(name) {
		return schemas.EventKey{}
	}
	at, id, _ := strings.Cut(q.text(name), ".")
	micros, err := strconv.ParseInt(at, 36, 64)
	if err != nil || id == "" {
		q.addProblem(name, "expected the cursor of a link in an earlier reply, got %.64q", q.text(name))
	}
	return schemas.EventKey{At: time.UnixMicro(micros).UTC(), ID: id}
}
