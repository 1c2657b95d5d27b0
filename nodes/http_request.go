package nodes

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// Calling other services
//
// A flow names a target and a path, nothing else. The operator configures the targets and what
// requests to them carry, and thereby decides which services receive anything: flow authors cannot
// make the server call other hosts or read a secret. The path is exactly the one in the flow.
//
// A notification (mode notify) is queued by the transaction that commits the step: a step that did
// not happen sends nothing, and one that did is sent despite crashes. A query is sent while the
// step is decided, before anything commits, and possibly for a step that never commits because
// another answer was faster. So repeating a query must be harmless. Where queries are expensive,
// the receiver recognizes a repetition by its Idempotency-Key.
//
// A query proves nothing about the user's identity. Its reply is only data for the conditions of
// decisions.

func httpRequestKind(d Deps) declared {
	return configured[httpRequest](d, engine.Kind{
		Name: "http-request",
		Acts: true,
		Doc: "Sends a query (mode query) or a notification (mode notify) to another service over " +
			"HTTP. The operator configures the services in http.targets. A query waits for the reply and may be " +
			"repeated, so it must change nothing. A notification is sent after the step is committed, until it is delivered.",
		Outcomes: []engine.Outcome{
			engine.On(queuedOutcome, engine.NoEffect(), engine.Outcome{Doc: "of a notification: it is sent when the step is committed, and retried for up to three days"}),
			engine.On(successOutcome, engine.NoEffect(), engine.Outcome{Doc: "of a query: the service replied with a 2xx status, and the reply has the declared values"}),
			engine.On(failureOutcome, engine.NoEffect(), engine.Outcome{Doc: "of a query: a timeout, another status, a reply of another form, or any other error"}),
		},
		Expressions: func(with json.RawMessage) (list []engine.Expression) {
			body := readLoosely[httpRequest](with).Body
			for _, name := range slices.Sorted(maps.Keys(body)) {
				list = append(list, expressionAt(schemas.MemberPath("body", name), body[name]))
			}
			return list
		},
	}, errorCodes{schemas.CodeExpressionFailed},
		row{"mode query: success, failure; mode notify: queued", "success: the reply of the service"})
}

// queryMode is the mode of http-request that waits for the reply. The other one is notify.
const queryMode = "query"

const queuedOutcome = "queued"

// httpRequest has one expression for each member of its body, sorted by name.
type httpRequest struct {
	expressionReader
	Target string                `json:"target" pattern:"^[a-z][a-z0-9_-]{0,62}$" expect:"a name of lower-case letters, digits, dashes and underscores, that begins with a letter" doc:"The service, by its name in http.targets of the server's configuration, such as crm."`
	Mode   string                `json:"mode" enum:"query,notify" enumdoc:"Send a query and wait for the reply. It may be repeated, so it must change nothing.|Send a notification after the step is committed, until it is delivered." doc:"Whether the service receives a query or a notification."`
	Path   string                `json:"path,omitempty" max:"1000" default:"" doc:"The path below the target's URL, such as /sign-ups or /risk?level=high, which is sent unchanged. Default: that URL itself."`
	Method string                `json:"method,omitempty" enum:"POST,GET" default:"POST" doc:"The method. Default: POST. GET is for a query without a body."`
	Body   map[string]string     `json:"body,omitempty" max:"50" doc:"The JSON body: each member is a CEL expression. It can read what the conditions of a decision read (user, application, inputs, request and replies) as far as they are certain here, and never a secret. An attribute that the user may not have needs a guard." item.min:"1" item.max:"4096" item.doc:"A CEL expression, such as user.id, or has(user.attributes.email) ? user.attributes.email : null." key.pattern:"^[A-Za-z_][A-Za-z0-9_-]{0,63}$" key.expect:"a name of letters, digits, dashes and underscores, that does not begin with a digit or a dash"`
	Event  string                `json:"event,omitempty" max:"100" pattern:"^[A-Za-z0-9_-]+([.][A-Za-z0-9_-]+)*$" expect:"words of letters, digits, dashes and underscores, separated by dots" doc:"The event, such as user.signed-up: the type of a notification, which also has timestamp and data. Default: the node's id."`
	As     string                `json:"as,omitempty" pattern:"^[a-z][A-Za-z0-9_]{0,62}$" expect:"letters, digits and underscores, starting with a lower-case letter" doc:"The name under which the values of the reply are stored: with risk, expressions read replies.risk."`
	Reply  map[string]replyValue `json:"reply,omitempty" min:"1" max:"20" doc:"The values that the reply to a query must have, by the names under which they are stored. If one is missing or has another type, the outcome is failure." item.doc:"A value of the reply." key.pattern:"^[a-z][A-Za-z0-9_]{0,62}$" key.expect:"letters, digits and underscores, starting with a lower-case letter"`

	names []string
	keeps *engine.ServiceReply
}

func (x *httpRequest) prepare(c *engine.Config) []schemas.Problem {
	env := x.environment(c)
	x.names = slices.Sorted(maps.Keys(x.Body))
	found := append(x.checkMembers(), checkTarget(x.deps.Targets, x.Target)...)
	if fault := pathFault(x.Path); fault != "" {
		found = append(found, problem("path", "%s", fault))
	}
	for _, name := range x.names {
		compiled, faults := compileTyped(env, c, x.Body[name], nil, notJSON)
		if compiled.allInputs {
			faults = append(faults, fault{message: "it would send everything that users enter; name the inputs to send"})
		}
		found = append(found, x.add(c, compiled, faults, schemas.MemberPath("body", name))...)
	}
	x.keeps = x.serviceReply(c)
	x.outcomes = x.modeOutcomes()
	if x.Mode == queryMode && slices.ContainsFunc(x.expressions, (*expression).ofUser) {
		x.reveals = "another service's reply about the user, by the path taken"
	}
	return found
}

// checkTarget reports a target that is not configured. Without a server there are no targets, and
// any name is accepted.
func checkTarget(targets Targets, name string) []schemas.Problem {
	if targets == nil || targets.Names() == nil || slices.Contains(targets.Names(), name) {
		return nil
	}
	return []schemas.Problem{problem("target", "this server has no target %q%s; targets are configured by its operator, in http.targets",
		name, schemas.Hint(name, targets.Names()))}
}

// checkMembers reports members that the mode does not use.
func (x *httpRequest) checkMembers() (found []schemas.Problem) {
	add := func(wrong bool, path, message string) {
		if wrong {
			found = append(found, problem(path, "%s", message))
		}
	}
	query := x.Mode == queryMode
	add(query && x.Event != "", "event", "only a notification (mode notify) has an event; remove it")
	add(!query && x.Method == "GET", "method", "a notification (mode notify) has a body, so it is a POST; remove method")
	add(query && x.Method == "GET" && len(x.Body) > 0, "body", "a GET has no body; use POST, or remove body")
	add(!query && x.Reply != nil, "reply", "a notification (mode notify) has no reply; use mode query, or remove reply")
	add(!query && x.As != "", "as", "a notification (mode notify) has no reply to store; use mode query, or remove as")
	add(query && x.As != "" && x.Reply == nil, "as", "the reply has no values to store; declare them with reply")
	add(query && x.As == "" && x.Reply != nil, "reply", "the reply needs a name; set as, such as risk for replies.risk")
	return found
}

// serviceReply describes what the node stores, nil for nothing. A reply can be about anything: a
// query whose body mentions the user is considered to be about the user.
func (x *httpRequest) serviceReply(c *engine.Config) *engine.ServiceReply {
	if x.Mode != queryMode || x.As == "" {
		return nil
	}
	r := &engine.ServiceReply{Name: x.As, Types: map[string]engine.ReplyType{}}
	for name, value := range x.Reply {
		r.Types[name] = value.Type
	}
	for _, e := range x.expressions {
		r.OfUser = r.OfUser || e.ofUser() || len(e.replies) > 0
		for _, use := range e.inputs {
			r.Inputs = append(r.Inputs, use.identifier)
		}
		if len(e.replies) > 0 {
			r.Inputs = slices.AppendSeq(r.Inputs, maps.Keys(c.Collected().Inputs))
		}
	}
	return r
}

// Waits reports that a query waits for the reply.
func (x *httpRequest) Waits() bool { return x.Mode == queryMode }

// ServiceReply describes what a query stores.
func (x *httpRequest) ServiceReply() *engine.ServiceReply { return x.keeps }

// modeOutcomes returns the outcomes of the mode. A failure removes an earlier reply.
func (x *httpRequest) modeOutcomes() []engine.Outcome {
	if x.Mode != queryMode {
		return x.outcomes[:1]
	}
	outcomes := x.outcomes[1:]
	if x.keeps != nil {
		for i := range outcomes {
			outcomes[i].Forgets = engine.ReplyFacts(x.keeps.Name)
		}
		outcomes[0].Establishes = []engine.Fact{x.keeps.Fact()}
	}
	return outcomes
}

// Execute sends the notification, or the query and leaves by its result.
func (x *httpRequest) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	values, err := x.values(ctx, v)
	if err != nil {
		return nil, err
	}
	body, err := x.body(values)
	switch {
	case x.Mode == queryMode:
		return x.query(ctx, v, body, err)
	case err != nil:
		return expressionFailed("%w", err), nil
	}
	return x.notify(v, body)
}
