package flowtest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// checkNames finds names that the file does not define, and scenarios with the same name.
func (f *File) checkNames() (problems []schemas.Problem) {
	first := map[string]int{}
	for i, s := range f.Scenarios {
		at := scenarioPath(i)
		if before, taken := first[s.Name]; taken {
			line, _ := f.place(scenarioPath(before))
			problems = append(problems, problem(at+".name", "the scenario on line %d has this name too", line))
		} else {
			first[s.Name] = i
		}
		for _, user := range slices.Sorted(maps.Keys(s.Consents)) {
			problems = f.checkUser(problems, schemas.MemberPath(at+".consents", user), user)
		}
		for j, x := range s.Steps {
			problems = f.checkUsers(problems, stepPath(i, j), x)
			if like := x.Expect.Like; like > j {
				problems = append(problems, problem(stepPath(i, j)+".expect.like", "this is step %d; expected the number of one before it, got %d", j+1, like))
			}
			problems = append(problems, x.Send.check(stepPath(i, j)+".send", j == 0)...)
		}
	}
	return problems
}

// check finds members that have no effect in combination with others.
func (s Send) check(at string, first bool) (problems []schemas.Problem) {
	without := func(where string, members map[string]bool, why string) {
		for _, name := range slices.Sorted(maps.Keys(members)) {
			if members[name] {
				problems = append(problems, problem(where+"."+name, "%s", why))
			}
		}
	}
	answer := map[string]bool{
		"action": s.Action != "", "inputs": s.Inputs != nil, "passkey": s.Passkey != nil, "stale": s.Stale,
		"totp": s.TOTP != nil, "recoveryCode": s.RecoveryCode > 0, "mailedCode": s.MailedCode != "", "federated": s.Federated != nil,
	}
	switch {
	case first:
		answer["resume"] = s.Resume
		without(at, answer, "the first step starts the run and answers nothing; inputs of the start belong in the scenario's `start`")
	case s.Resume:
		without(at, answer, "a step with resume requests the step again and cannot answer it")
	}
	if f := s.Federated; f != nil && f.Replay {
		without(at+".federated", map[string]bool{"fault": f.Fault != "", "old": f.Old, "subject": f.Subject != "", "claims": f.Claims != nil},
			"an answer that is sent once more (replay) is what it was")
	}
	if c := s.Passkey; c != nil && c.Replay {
		without(at+".passkey", map[string]bool{
			"fault": c.Fault != "", "old": c.Old, "as": c.As != "", "origin": c.Origin != "", "name": c.Name != "",
		}, "an answer that is sent once more (replay) is what it was")
	}
	return problems
}

// checkUsers finds users in a step that the file does not define.
func (f *File) checkUsers(problems []schemas.Problem, at string, x Exchange) []schemas.Problem {
	if c := x.Send.Passkey; c != nil && c.As != "" {
		problems = f.checkUser(problems, at+".send.passkey.as", c.As)
	}
	for _, user := range slices.Sorted(maps.Keys(x.Send.Meanwhile)) {
		problems = f.checkUser(problems, schemas.MemberPath(at+".send.meanwhile", user), user)
	}
	if x.Expect.User != "" {
		problems = f.checkUser(problems, at+".expect.user", x.Expect.User)
	}
	for i, e := range x.Expect.Events {
		if e.User != "" {
			problems = f.checkUser(problems, fmt.Sprintf("%s.expect.events[%d].user", at, i), e.User)
		}
	}
	for _, user := range slices.Sorted(maps.Keys(x.Expect.Identities)) {
		problems = f.checkUser(problems, schemas.MemberPath(at+".expect.identities", user), user)
	}
	for _, user := range slices.Sorted(maps.Keys(x.Expect.Passkeys)) {
		problems = f.checkUser(problems, schemas.MemberPath(at+".expect.passkeys", user), user)
	}
	return problems
}

func (f *File) checkUser(problems []schemas.Problem, path, name string) []schemas.Problem {
	if _, known := f.Users[name]; known {
		return problems
	}
	return append(problems, problem(path, "there is no user %q%s", name, schemas.Hint(name, slices.Sorted(maps.Keys(f.Users)))))
}

// checkSteps finds expected steps that the flow cannot reach.
func (f *File) checkSteps(g *engine.Graph) (problems []schemas.Problem) {
	var known []string
	for _, n := range g.Nodes() {
		known = append(known, n.ID)
	}
	for i, s := range f.Scenarios {
		for j, x := range s.Steps {
			if step := x.Expect.Step; step != "" && !slices.Contains(known, step) {
				problems = append(problems, problem(stepPath(i, j)+".expect.step", "the flow has no node %q%s", step, schemas.Hint(step, known)))
			}
		}
	}
	return problems
}

func problem(path, format string, args ...any) schemas.Problem {
	return schemas.Problem{Path: path, Message: fmt.Sprintf(format, args...)}
}

func scenarioPath(i int) string { return fmt.Sprintf("scenarios[%d]", i) }

func stepPath(i, j int) string { return fmt.Sprintf("scenarios[%d].steps[%d]", i, j) }
