package chains_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// parsed returns a flow of a body in YAML, as it would be stored.
func parsed(t testing.TB, id, body string) *schemas.Flow {
	t.Helper()
	f, _, problems := schemas.ParseFlow([]byte("handle: "+id+"\nname: X\nflowType: AUTHENTICATION\n"+body), true)
	if f == nil {
		t.Fatalf("%v\n%s", problems, body)
	}
	f.ID = id
	return f
}

// signIns is a system of applications, each with the flows of the names.
func signIns(flows map[string]*schemas.Flow, apps ...schemas.SystemApplication) *schemas.SignInSystem {
	s := &schemas.SignInSystem{Flows: map[string]*schemas.Flow{}, Applications: apps}
	for _, a := range apps {
		for _, id := range a.FlowIDs {
			s.Flows[id] = flows[id]
		}
	}
	return s
}

func started(id string, flows ...string) schemas.SystemApplication {
	return schemas.SystemApplication{ID: id, Name: id, FlowIDs: flows}
}

const (
	strongKey = "guarantees: {phishingResistant: true}\nnodes:\n  - {id: key, use: passkey-authenticate, with: {mode: usernameless}, next: done}" + done
	// The enrolling node leads back to the passkey, so that only an account with the factor gets on.
	loopsUntilKept = "nodes:\n  - {id: key, use: passkey-authenticate, with: {mode: usernameless}, next: more}\n" +
		"  - {id: more, use: KIND, next: {success: again, kept: done}}\n" +
		"  - {id: again, use: prompt, with: {actions: [{ref: go}]}, next: key}" + done
)

// What a run enrolls holds in the next one: a way does not end at a condition that the attacker can
// make true.
func TestEnrollingChangesConditions(t *testing.T) {
	for _, kind := range []string{"totp-register", "recovery-codes"} {
		t.Run(kind, func(t *testing.T) {
			flows := map[string]*schemas.Flow{
				"strong": parsed(t, "strong", strongKey), "password": parsed(t, "password", "nodes:"+sequence("password-authenticate")),
				"loop": parsed(t, "loop", strings.Replace(loopsUntilKept, "KIND", kind, 1)),
			}
			account := started("account", "password")
			account.Account = true
			c := &chains.Checker{Kinds: nodes.Kinds(nodes.Deps{})}
			opened, err := c.NewWays(t.Context(), signIns(flows, account, started("shop", "strong")), signIns(flows, account, started("shop", "loop")))
			if err != nil || len(opened) == 0 || !strings.Contains(opened[0].Message, "more —kept→") {
				t.Errorf("a change to the flow opens %v, %v", opened, err)
			}
			for _, p := range opened {
				if strings.Contains(p.Message, "with an open browser") {
					t.Errorf("an open browser is enough: %s", p.Message)
				}
			}
		})
	}
}

// A node that asks for an address does not stop a user who has one.
func TestAttributesThatAreKnown(t *testing.T) {
	flows := map[string]*schemas.Flow{"strong": parsed(t, "strong", strongKey)}
	for _, with := range []string{"{identifying: true}", "{identifying: true, attributes: [email]}", "{attributes: [given_name]}"} {
		for _, first := range []string{"email-otp", "password-authenticate"} {
			flows["asks"] = parsed(t, "asks", "nodes:"+sequence(first, "attributes "+with))
			c := &chains.Checker{Kinds: nodes.Kinds(nodes.Deps{})}
			opened, err := c.NewWays(t.Context(), signIns(flows, started("shop", "strong")), signIns(flows, started("shop", "asks")))
			if err != nil || len(opened) != 1 || strings.Contains(opened[0].Message, ", if ") {
				t.Errorf("%s and attributes %s open %v, %v; expected one way without a condition", first, with, opened, err)
			}
		}
	}
}

// A client that manages users can do more than set a password.
func TestManagersOfUsers(t *testing.T) {
	tests := []struct {
		name, flow, class string
		unlimited         bool
		operation         string
	}{
		{"enter a verified address", sequence("email-otp"), schemas.ACRVouched, false, "PUT /users/{id}"},
		{"remove an authenticator app", sequence("password-authenticate", "totp"), schemas.ACRPassword, false, "PUT /users/{id}"},
		{"add a passkey", "\n  - {id: key, use: passkey-authenticate, with: {mode: usernameless}, next: done}" + done, schemas.ACRMultiFactor, true, "POST /register/passkey/finish"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &chains.System{Applications: []chains.Application{
				{ID: "shop", Name: "Shop", Flows: []chains.Flow{flowOf(t, tt.name, tt.flow)}}, {ID: "nightly", Name: "Nightly", ManagesUsers: true, Unlimited: tt.unlimited},
			}}
			r, err := chains.Analyze(t.Context(), s)
			if err != nil {
				t.Fatal(err)
			}
			i := slices.IndexFunc(r.Ways, func(w chains.Way) bool {
				return w.Target.Application == "shop" && w.Target.Class == tt.class && w.Means == chains.Means{Manager: true}
			})
			if i < 0 || !strings.Contains(r.Ways[i].String(), tt.operation) {
				t.Errorf("no way with a client that manages users: %+v", r.Ways)
			}
		})
	}
}

// linking is a system with n identity providers, each linked by a flow of its own after a password, and
// a flow that asks for all of them.
func linking(t testing.TB, n int) *chains.System {
	t.Helper()
	s := &chains.System{}
	all := ""
	for i := range n {
		name := fmt.Sprintf("link %d of %d", i, n)
		f := flowOf(t, name, strings.Replace(who, "FIRST", "n0", 1)+fmt.Sprintf("\n  - {id: n0, use: password-authenticate, next: {success: p, failure: n0}}\n"+
			"  - {id: p, use: federated-oidc, with: {provider: idp%d}, next: {success: done, unknown: l, failure: n0}}\n"+
			"  - {id: l, use: federated-link, next: {success: done, taken: n0}}", i)+done)
		s.Applications = append(s.Applications, chains.Application{ID: name, Name: name, Flows: []chains.Flow{f}})
		next := fmt.Sprint("p", i+1)
		if i == n-1 {
			next = "done"
		}
		all += fmt.Sprintf("\n  - {id: p%d, use: federated-oidc, with: {provider: idp%d}, next: {success: %s, unknown: p0, failure: p0}}", i, i, next)
	}
	all += done
	s.Applications = append(s.Applications, chains.Application{ID: "all", Name: "All", Flows: []chains.Flow{flowOf(t, fmt.Sprint("all ", n), all)}})
	return s
}

// endingContext ends after a number of questions whether it has.
type endingContext struct {
	context.Context
	asked, left int
}

func (c *endingContext) Err() error {
	c.asked++
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

// An analysis ends when its caller leaves, wherever it is: while it compiles, at its start and near its end.
func TestAnalysesEndWithTheirCaller(t *testing.T) {
	system := &schemas.SignInSystem{Flows: map[string]*schemas.Flow{}}
	for i, name := range playedFlows() {
		f := *playedFlow(t, name)
		f.ID = fmt.Sprint("flow ", i)
		system.Flows[f.ID] = &f
		system.Applications = append(system.Applications, schemas.SystemApplication{ID: f.ID, Name: f.ID, FlowIDs: []string{f.ID}})
	}
	checker := func() *chains.Checker { return &chains.Checker{Kinds: nodes.Kinds(nodes.Deps{})} }
	for name, analyze := range map[string]func(context.Context) error{
		"all ways": func(ctx context.Context) error { _, err := checker().Analyze(ctx, system); return err },
		"a change": func(ctx context.Context) error {
			_, err := checker().NewWays(ctx, &schemas.SignInSystem{}, system)
			return err
		},
		"many providers": func(ctx context.Context) error { _, err := chains.Analyze(ctx, linking(t, 20)); return err },
	} {
		whole := &endingContext{Context: t.Context(), left: 1 << 30}
		if err := analyze(whole); err != nil || whole.asked < 4 {
			t.Fatalf("%s: asks %d times whether it should end, %v", name, whole.asked, err)
		}
		for _, left := range []int{0, whole.asked / 4, whole.asked / 2, whole.asked - 1} {
			ctx := &endingContext{Context: t.Context(), left: left}
			if err := analyze(ctx); !errors.Is(err, context.Canceled) || ctx.asked > left+1 {
				t.Errorf("%s: after %d of %d questions, it ends with %v after %d", name, left, whole.asked, err, ctx.asked)
			}
		}
	}
}

// The work grows with the number of flows, not with the number of their combinations.
func TestWorkOfManyProviders(t *testing.T) {
	c := &chains.Checker{MaxMoves: 3_000_000}
	for _, n := range []int{4, 8, 12, 40} {
		if _, err := c.AnalyzeSystem(t.Context(), linking(t, n)); err != nil {
			t.Errorf("%d providers: %v", n, err)
		}
	}
}

// A change of a system that is too large is refused, unless it cannot open a way. The work does not
// depend on the time.
func TestBudget(t *testing.T) {
	flows := map[string]*schemas.Flow{
		"strong": parsed(t, "strong", strongKey), "password": parsed(t, "password", "nodes:"+sequence("password-authenticate")),
		"code": parsed(t, "code", "nodes:"+sequence("email-otp")),
	}
	renamed := *flows["password"]
	renamed.Name = "Another name"
	before := signIns(flows, started("a", "strong"), started("b", "password", "code"))
	other := signIns(flows, started("a", "strong"), started("b", "password", "code"))
	other.Flows["password"] = &renamed
	tests := []struct {
		name  string
		after *schemas.SignInSystem
		known bool
	}{
		{"another flow", signIns(flows, started("a", "code"), started("b", "password", "code")), false},
		{"one flow less", signIns(flows, started("a", "strong"), started("b", "password")), true},
		{"one application less", signIns(flows, started("b", "password", "code")), true},
		{"one application more, with a flow of others", signIns(flows, started("a", "strong"), started("b", "password", "code"), started("c", "strong")), true},
		{"another name", other, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := &chains.Checker{Kinds: nodes.Kinds(nodes.Deps{}), MaxMoves: 20}
			_, err := c.NewWays(t.Context(), before, tt.after)
			var large *chains.TooLargeError
			if errors.As(err, &large) == tt.known || tt.known && err != nil {
				t.Errorf("got %v", err)
			}
		})
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := chains.Analyze(ended, linking(t, 20)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the caller left: %v", err)
	}
}

// An application with the identifiers of a deleted one is compared with its last state.
func TestFormerApplications(t *testing.T) {
	flows := map[string]*schemas.Flow{"strong": parsed(t, "strong", strongKey), "password": parsed(t, "password", "nodes:"+sequence("password-authenticate"))}
	for _, last := range []string{"", "strong", "password"} {
		before := signIns(flows, started("other", "password"))
		if last != "" {
			before.Former = []schemas.FormerApplication{{SystemApplication: started("shop"), Flows: []*schemas.Flow{flows[last]}}}
		}
		c := &chains.Checker{Kinds: nodes.Kinds(nodes.Deps{})}
		opened, err := c.NewWays(t.Context(), before, signIns(flows, started("other", "password"), started("shop", "password")))
		if err != nil || (len(opened) > 0) != (last == "strong") {
			t.Errorf("created again after %q: %v, %v", last, opened, err)
		}
	}
}
