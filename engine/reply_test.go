package engine_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// enquiry stores a reply, each time with the next number.
type enquiry struct {
	reply engine.ServiceReply
	empty bool
	count *int
}

func (e enquiry) ServiceReply() *engine.ServiceReply { return &e.reply }

func (e enquiry) Outcomes() []engine.Outcome {
	return []engine.Outcome{
		engine.On("a", engine.NoEffect(), engine.Outcome{Forgets: engine.ReplyFacts(e.reply.Name), Establishes: []engine.Fact{e.reply.Fact()}}),
		engine.On("b", engine.NoEffect(), engine.Outcome{Forgets: engine.ReplyFacts(e.reply.Name)}),
	}
}

func (e enquiry) Execute(context.Context, *engine.Visit) (*engine.Decision, error) {
	d := engine.LeaveBy("a")
	if *e.count++; !e.empty {
		d.Replies = map[string]map[string]any{e.reply.Name: {"n": float64(*e.count)}}
	}
	return d, nil
}

// replyKinds are the test kinds, some that store a reply, and one that reads it.
func replyKinds() engine.Kinds {
	kinds, count := testKinds(), 0
	asks := func(name string, e enquiry, needs ...engine.Need) {
		e.count = &count
		kinds[name] = &engine.Kind{Name: name, Needs: needs, New: func(*engine.Config) (engine.Executor, []schemas.Problem) { return e, nil }}
	}
	number := map[string]engine.ReplyType{"n": engine.NumberReply}
	asks("enquire", enquiry{reply: engine.ServiceReply{Name: "r", Types: number}})
	asks("enquire-name", enquiry{reply: engine.ServiceReply{Name: "r", Types: number, Inputs: []string{"name"}}})
	asks("enquire-user", enquiry{reply: engine.ServiceReply{Name: "r", Types: number, OfUser: true}}, engine.Need{AnyOf: []engine.Fact{engine.User}})
	asks("enquire-text", enquiry{reply: engine.ServiceReply{Name: "r", Types: map[string]engine.ReplyType{"n": engine.StringReply}}})
	asks("enquire-nothing", enquiry{reply: engine.ServiceReply{Name: "r", Types: number}, empty: true})
	kinds["read"] = &engine.Kind{
		Name: "read", Asks: true, Outcomes: outcomes("a"), Needs: []engine.Need{{AnyOf: engine.ReplyFacts("r")}},
		New: maker(func(_ context.Context, v *engine.Visit) (*engine.Decision, error) {
			if v.Answer != nil {
				return engine.LeaveBy("a"), nil
			}
			d := question("a")
			d.Ask.Data = map[string]string{"said": fmt.Sprint(v.Replies["r"]["n"], " at ", v.Revision)}
			return d, nil
		}),
	}
	return kinds
}

// Where a reply is certain, and where it concerns another user or input by then.
func TestRepliesAreDefinitelySet(t *testing.T) {
	const missing = `the service reply "r"`
	tests := []struct {
		name  string
		lines string
		want  string // the path that breaks it, "" if none
	}{
		{"after the question", "q enquire a=k b=end,k read end", ""},
		{"after a question that may have failed", "q enquire a=k b=k,k read end", "q —b→ k"},
		{"without a question", "k read end", "k"},
		{"from either of two", "x ask a=q b=p,q enquire a=k b=end,p enquire-name a=k b=end,k read end", ""},
		{"after a second question failed", "q enquire a=p b=end,p enquire a=k b=k,k read end", "q —a→ p —b→ k"},
		{"about an input", "f form q,q enquire-name a=k b=end,k read end", ""},
		{"about an input that is asked for again", "f form q,q enquire-name a=g b=end,g form k,k read end", "f —a→ q —a→ g —a→ k"},
		{"about nothing, and an input is asked for again", "f form q,q enquire a=g b=end,g form k,k read end", ""},
		{"about a user who was named", "f form r,r resolve found=q missing=end,q enquire-user a=k b=end,k read end", ""},
		{"about a user, and then about another", "f form r,r resolve found=q missing=end,q enquire-user a=s b=end,s session active=k none=end,k read end",
			"f —a→ r —found→ q —a→ s —active→ k"},
		{"about a user, and then about another one", "f form r,r resolve found=q missing=end,q enquire-user a=g b=end,g form p,p prove success=k,k read end",
			"f —a→ r —found→ q —a→ g —a→ p —success→ k"},
		{"about a user who has authenticated, and is asked for more", "p prove success=q,q enquire-user a=g b=end,g form k,k read end", ""},
		{"about a user who authenticates later", "f form r,r resolve found=q missing=end,q enquire-user a=p b=end,p prove success=k,k read end", ""},
		{"about nothing, and then a user is found", "q enquire a=f b=end,f form r,r resolve found=k missing=k,k read end", ""},
		{"first about a user and then about nothing", "p prove success=q,q enquire-user a=w b=end,w enquire a=s b=end,s session active=k none=k,k read end", ""},
		{"first about nothing and then about a user", "w enquire a=p b=end,p prove success=q,q enquire-user a=s b=end,s session active=k none=end,k read end",
			"w —a→ p —success→ q —a→ s —active→ k"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			g, problems := engine.Compile(flowOf(schemas.Registration, strings.Split(test.lines, ",")...), replyKinds())
			got := ""
			for _, p := range problems {
				if got += p.Trace.String(); p.Rule != engine.RuleNeeds || strings.Count(p.Message, missing) != 1 {
					t.Errorf("found %v", p)
				}
			}
			if got != test.want || (g == nil) != (test.want != "") {
				t.Errorf("the run %q breaks it, want %q: %v", got, test.want, problems)
			}
		})
	}
}

func TestRepliesWithOneNameHaveOneType(t *testing.T) {
	_, problems := engine.Compile(flowOf(schemas.Registration, "q enquire a=p b=end", "p enquire-text a=k b=end", "k read end"), replyKinds())
	if len(problems) != 1 || problems[0].Rule != engine.RuleInput || problems[0].Node != "p" {
		t.Errorf("found %v", problems)
	}
}

// Later nodes and steps see the latest reply of a service. It leaves the stored state as soon as
// it concerns another user or input.
func TestRepliesAreKept(t *testing.T) {
	g, problems := engine.Compile(flowOf(schemas.Registration,
		"f form q", "q enquire-name a=k b=end", "k read l", "l read g", "g form p", "p enquire-name a=m b=end", "m read h", "h form x", "x ask end"), replyKinds())
	if g == nil {
		t.Fatal(problems)
	}
	w := newFixtureOf(t, g)
	s := w.start(nil)
	said := func(want string) {
		t.Helper()
		if got := s.Data.AdditionalData["said"]; got != want {
			t.Errorf("at %s the service has said %q, expected %q", s.StepID, got, want)
		}
	}
	s = w.send(s, "a", "name", "ada", "r", "99", "replies.r.n", "99")
	said("1 at 1")
	s = w.send(s, "a")
	said("1 at 2")
	s = w.send(s, "a")
	if state := string(w.mem.runs[s.ExecutionID].State); !strings.Contains(state, `"n":1`) {
		t.Errorf("the answer is not kept: %s", state)
	}
	s = w.send(s, "a", "name", "bob")
	said("2 at 4")
	s = w.send(w.send(s, "a"), "a", "name", "eve")
	if state := string(w.mem.runs[s.ExecutionID].State); s.StepID != "x" || strings.Contains(state, `"replies"`) || strings.Contains(state, "reply") {
		t.Errorf("the answer about another is still kept: %s", state)
	}
}

func TestDeclaredReplies(t *testing.T) {
	g, problems := engine.Compile(flowOf(schemas.Registration, "q enquire-nothing a=k b=end", "k read end"), replyKinds())
	if g == nil {
		t.Fatal(problems)
	}
	w := newFixtureOf(t, g)
	_, err := w.Start(context.Background(), w.graph, &schemas.Application{ID: "app"}, nil, engine.Request{})
	if err == nil || schemas.AsError(err).Class != schemas.Internal {
		t.Errorf("got %v, want an internal error", err)
	}
}
