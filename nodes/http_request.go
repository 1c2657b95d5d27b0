package nodes

import (
	"context"
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

func httpRequestKind(d Deps) *engine.Kind {
	return configured[httpRequest](d, engine.Kind{
		Name: "http-request",
		Doc: "Sends a query (mode query) or a notification (mode notify) to another service, over HTTP. " +
			"Which services there are the operator says, in http.targets of the configuration. A query waits for the answer, " +
			"and may be repeated, so it must change nothing; a notification is sent after the step is committed, until it arrives.",
		Outcomes: []engine.Outcome{
			{Name: queuedOutcome, Doc: "of a notify: it is sent when the step is committed, and again until it has arrived, for three days"},
			{Name: successOutcome, Doc: "of a query: the service answered with 2xx, and the reply has the values that are declared"},
			{Name: failureOutcome, Doc: "of a query: anything else, be it no answer in time, another status, or a reply of another form"},
		},
	}, httpRequestProperties, "target", "mode")
}

// httpRequestProperties are the properties of the configuration.
const httpRequestProperties = `
    "target": {
      "type": "string", "pattern": "^[a-z][a-z0-9_-]{0,62}$",
      "x-expect": "a name of lower-case letters, digits, dashes and underscores, that begins with a letter",
      "description": "The service, by its name in http.targets of the server's configuration, such as crm."
    },
    "mode": {
      "enum": ["query", "notify"],
      "enumDescriptions": ["Ask, and wait for the answer. It may be repeated, so it must be a question.", "Tell: send it once the step is committed, until it has arrived."],
      "description": "Whether the service gets a query or a notification."
    },
    "path": {
      "type": "string", "maxLength": 1000, "default": "",
      "description": "Where below the target's URL, such as /sign-ups or /risk?level=high; by default that URL itself. It is sent as it stands here."
    },
    "method": {"enum": ["POST", "GET"], "default": "POST", "description": "The method; by default POST. GET is for a query without a body."},
    "body": {
      "type": "object", "maxProperties": 50,
      "description": "What is sent as JSON: the members by their names, each a CEL expression. It sees what the conditions of a decision see: user, application, inputs, request and replies, as far as they are certain here, and never a secret. A member whose attribute the user does not have is left out.",
      "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_-]{0,63}$", "x-expect": "a name of letters, digits, dashes and underscores, that does not begin with a digit or a dash"},
      "additionalProperties": {"type": "string", "minLength": 1, "maxLength": 4096, "description": "A CEL expression, such as user.attributes.email."}
    },
    "event": {
      "type": "string", "pattern": "^[A-Za-z0-9_-]+([.][A-Za-z0-9_-]+)*$", "maxLength": 100, "x-expect": "words of letters, digits, dashes and underscores, with dots between them",
      "description": "The event, such as user.signed-up: the type of a notification, which also has timestamp and data. By default the node's id."
    },
    "as": {
      "type": "string", "pattern": "^[a-z][A-Za-z0-9_]{0,62}$", "x-expect": "letters, digits and underscores, a lower-case letter first",
      "description": "The name under which the values of the reply are kept: with risk, expressions read replies.risk."
    },
    "reply": {
      "type": "object", "minProperties": 1, "maxProperties": 20,
      "description": "The values that the reply to a query must have, by the names under which they are kept. Without one of them, or with one of another type, the outcome is failure.",
      "propertyNames": {"pattern": "^[a-z][A-Za-z0-9_]{0,62}$", "x-expect": "letters, digits and underscores, a lower-case letter first"},
      "additionalProperties": {
        "type": "object", "additionalProperties": false, "required": ["at", "type"], "description": "A value of the reply.",
        "properties": {
          "at": {"type": "string", "maxLength": 500, "pattern": "^(/([^~/]|~[01])*)*$", "x-expect": "a JSON pointer (RFC 6901) such as /score", "description": "Where in the reply the value is: a JSON pointer (RFC 6901), such as /score or /results/0/name."},
          "type": {"enum": ["string", "number", "integer", "boolean"], "description": "Its type. A string has 4096 characters at most."}
        }
      }
    }`

// The modes of http-request.
const (
	notifyMode = "notify"
	queryMode  = "query"
)

const queuedOutcome = "queued"

// httpRequest has one expression for each member of its body, sorted by name.
type httpRequest struct {
	expressionReader
	Target string                `json:"target"`
	Mode   string                `json:"mode"`
	Path   string                `json:"path,omitempty"`
	Method string                `json:"method,omitempty"`
	Body   map[string]string     `json:"body,omitempty"`
	Event  string                `json:"event,omitempty"`
	As     string                `json:"as,omitempty"`
	Reply  map[string]replyValue `json:"reply,omitempty"`

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
			faults = append(faults, fault{message: "it would send whatever people have typed; name the inputs that are to be sent"})
		}
		found = append(found, x.add(c, compiled, faults, schemas.MemberPath("body", name))...)
	}
	x.keeps = x.serviceReply(c)
	x.outcomes = x.modeOutcomes()
	if x.Mode == queryMode && slices.ContainsFunc(x.expressions, (*expression).ofUser) {
		x.reveals = "what another service says of the user, by where that leads"
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
	add(query && x.As != "" && x.Reply == nil, "as", "there is nothing to keep; declare with reply which values")
	add(query && x.As == "" && x.Reply != nil, "reply", "the values need a name to be read by; give one with as, such as risk for replies.risk")
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
			r.Inputs = slices.AppendSeq(r.Inputs, maps.Keys(c.Inputs))
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
		return nil, schemas.Errorf(schemas.Invalid, "expression_failed", "node %q: %s", x.id, err)
	}
	return x.notify(v, body)
}
