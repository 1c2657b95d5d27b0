package directory

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

const (
	secondFactor = `{"handle": "second-factor", "name": "Second factor", "flowType": "SUBFLOW", "requires": {"facts": ["authenticated"]},
		"outcomes": {"passed": "A code was right."}, "nodes": [{"id": "app", "use": "totp", "next": {"success": "passed", "none": "passed"}}]}`
	twoFactors = `{"handle": "two-factors", "name": "Two", "flowType": "AUTHENTICATION", "nodes": [
		{"id": "key", "use": "passkey-authenticate", "next": "second"},
		{"id": "second", "use": "flow", "with": {"flow": "second-factor"}, "next": {"passed": "done"}},
		{"id": "done", "use": "authorization-code"}]}`
	nestedFactor = `{"handle": "nested", "name": "Nested", "flowType": "SUBFLOW", "requires": {"facts": ["authenticated"]},
		"nodes": [{"id": "more", "use": "flow", "with": {"flow": "second-factor"}, "next": {"passed": "end"}}]}`
)

// used returns the versions of the sub-flows that a flow uses: "second-factor 2".
func used(f *schemas.Flow) string {
	var list []string
	for _, u := range f.Uses {
		list = append(list, u.Handle+" "+string(rune('0'+u.Version)))
	}
	return strings.Join(list, ", ")
}

// A flow keeps the versions of sub-flows that were active when it was stored. Stored again,
// it uses the active ones; restored, the original ones.
func TestFlowsKeepTheirSubflows(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		ctx := t.Context()
		_, err := h.Flows.Create(ctx, SystemCall(), doc(t, twoFactors))
		refused(t, err, schemas.CodeInvalidFlow, `nodes[1].with.flow: there is no sub-flow "second-factor"; there are none here`)
		inner := h.create(t, h.Flows, secondFactor)
		outer := h.create(t, h.Flows, twoFactors)
		put := func(id, text string) *Item {
			t.Helper()
			item, err := h.Flows.Replace(ctx, SystemCall(), id, "", doc(t, text))
			must(t, err)
			return item
		}
		if f := flowOf(put(outer, twoFactors)); f.ActiveVersion != 1 || used(f) != "second-factor 1" || f.Uses[0].ID != inner {
			t.Errorf("version %d uses %s", f.ActiveVersion, used(f))
		}
		changed := put(inner, strings.NewReplacer(`"none": "passed"}}`, `"none": "add"}}, {"id": "add", "use": "totp-register", "next": {"success": "passed", "kept": "passed"}}`).Replace(secondFactor))
		if len(changed.Warnings) != 1 || !strings.Contains(changed.Warnings[0].Message, `the AUTHENTICATION flow "two-factors" (`+outer+`) still uses version 1; store it again`) {
			t.Errorf("warnings: %v", changed.Warnings)
		}
		read, err := h.Flows.Get(ctx, SystemCall(), inner)
		must(t, err)
		if by := flowOf(read).UsedBy; len(by) != 1 || by[0] != (schemas.SubflowUser{FlowType: schemas.Authentication, Handle: "two-factors", ID: outer, Version: 1}) || len(flowOf(changed).UsedBy) != 1 {
			t.Errorf("it is used by %v", by)
		}
		kept, err := h.Flows.Get(ctx, SystemCall(), outer)
		must(t, err)
		if f := flowOf(kept); f.ActiveVersion != 1 || used(f) != "second-factor 1" || len(f.Parts["second-factor"].Nodes) != 1 {
			t.Errorf("it was changed by its sub-flow: version %d uses %s", f.ActiveVersion, used(f))
		}
		again := put(outer, twoFactors)
		if f := flowOf(again); f.ActiveVersion != 2 || used(f) != "second-factor 2" || len(f.Parts["second-factor"].Nodes) != 2 {
			t.Errorf("put again: version %d uses %s", f.ActiveVersion, used(f))
		}
		old, err := h.RestoreFlow(ctx, SystemCall(), outer, 1)
		must(t, err)
		if f := flowOf(old); f.ActiveVersion != 3 || used(f) != "second-factor 1" || len(f.Parts["second-factor"].Nodes) != 1 {
			t.Errorf("restored: version %d uses %s", f.ActiveVersion, used(f))
		}
	})
}

// A sub-flow in use by an active version is not deleted. Older versions contain a copy.
func TestSubflowsInUse(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		ctx := t.Context()
		inner := h.create(t, h.Flows, secondFactor)
		nested := h.create(t, h.Flows, nestedFactor)
		outer := h.create(t, h.Flows, twoFactors)
		refused(t, h.Flows.Delete(ctx, SystemCall(), inner, ""), schemas.CodeInUse, `flow: flow "nested" (`+nested+`) uses it`, `flow: flow "two-factors" (`+outer+`) uses it`)
		must(t, h.Flows.Delete(ctx, SystemCall(), nested, ""))
		refused(t, h.Flows.Delete(ctx, SystemCall(), inner, ""), schemas.CodeInUse, `flow: flow "two-factors" (`+outer+`) uses it`)
		_, err := h.Flows.Replace(ctx, SystemCall(), outer, "", doc(t, strings.Replace(signInFlow, `"sign-in"`, `"two-factors"`, 1)))
		must(t, err)
		must(t, h.Flows.Delete(ctx, SystemCall(), inner, ""))
		old, err := h.RestoreFlow(ctx, SystemCall(), outer, 1)
		must(t, err)
		if f := flowOf(old); f.ActiveVersion != 3 || used(f) != "second-factor 1" {
			t.Errorf("restored without the sub-flow: version %d uses %s", f.ActiveVersion, used(f))
		}
	})
}

// Users cannot sign in with a sub-flow. A cycle is found even though each version uses an
// older one.
func TestSubflowRestrictions(t *testing.T) {
	h := furnished(t, newFixture(t))
	ctx := t.Context()
	inner := h.create(t, h.Flows, secondFactor)
	h.create(t, h.Flows, nestedFactor)
	_, err := h.Applications.Create(ctx, SystemCall(), doc(t, `{"name": "Shop", "authFlowId": "`+inner+`"}`))
	refused(t, err, schemas.CodeInvalidRequest, `authFlowId: expected a flow of the type AUTHENTICATION, got "second-factor", which is of the type SUBFLOW`)
	_, err = h.Flows.Replace(ctx, SystemCall(), inner, "", doc(t, strings.Replace(nestedFactor, `"nested"`, `"second-factor"`, 1)))
	refused(t, err, schemas.CodeInvalidFlow, "nodes[0].with.flow: second-factor → second-factor")
	_, err = h.Flows.Replace(ctx, SystemCall(), inner, "", doc(t, strings.Replace(strings.Replace(nestedFactor, `"second-factor"`, `"nested"`, 1), `"handle": "nested"`, `"handle": "second-factor"`, 1)))
	refused(t, err, schemas.CodeInvalidFlow, "nodes[0].with.flow: second-factor → nested → second-factor")
}

// A sub-flow cannot be used to waive a rule without the permission system.
func TestSubflowsWaiveForTheirUsers(t *testing.T) {
	h := furnished(t, newFixture(t))
	ctx := t.Context()
	h.create(t, h.Flows, `{"handle": "clerk", "name": "Clerk", "flowType": "SUBFLOW", "requires": {"facts": ["user"]},
		"waive": [{"rule": "takeover", "node": "key", "reason": "a clerk stands by"}], "nodes": [{"id": "key", "use": "passkey-register", "next": "end"}]}`)
	enrol := `{"handle": "enrol", "name": "Enrol", "flowType": "REGISTRATION", "nodes": [
		{"id": "who", "use": "prompt", "next": "find", "with": {"inputs": [{"identifier": "username", "type": "TEXT_INPUT", "required": true}], "actions": [{"ref": "go"}]}},
		{"id": "find", "use": "user-resolve", "with": {"by": ["username"], "from": "username"}, "next": {"found": "desk", "missing": "who"}},
		{"id": "desk", "use": "flow", "with": {"flow": "clerk"}, "next": "end"}]}`
	clerk := Call{Actor: schemas.Actor{Type: schemas.UserActor, ID: h.ids["user"]}, Permissions: []string{"system:flows:write"}}
	_, err := h.Flows.Create(ctx, clerk, doc(t, enrol))
	refused(t, err, schemas.CodeForbidden, "nodes: waives the rule")
	item, err := h.Flows.Create(ctx, SystemCall(), doc(t, enrol))
	must(t, err)
	if len(item.Warnings) != 1 || item.Warnings[0].Node != "desk.key" {
		t.Errorf("warnings: %v", item.Warnings)
	}
	read, err := h.Flows.Get(ctx, SystemCall(), item.ID)
	must(t, err)
	if len(read.Warnings) != 1 {
		t.Errorf("read again, its warnings are %v", read.Warnings)
	}
}

// Flows from files are stored in the order of use. A changed sub-flow also adds a version
// to the flows that use it.
func TestHeldSubflows(t *testing.T) {
	h := furnished(t, newFixture(t))
	hold := func(texts ...string) string {
		t.Helper()
		var documents []*schemas.Document
		for _, text := range texts {
			documents = append(documents, doc(t, text))
		}
		held, err := h.SyncFlowsFromFiles(t.Context(), documents)
		must(t, err)
		var list []string
		for _, f := range held {
			if f.New {
				list = append(list, f.Handle+" "+string(rune('0'+f.Version)))
			}
		}
		return strings.Join(list, ", ")
	}
	if got := hold(twoFactors, nestedFactor, secondFactor); got != "second-factor 1, two-factors 1, nested 1" {
		t.Errorf("held %s", got)
	}
	if got := hold(nestedFactor, secondFactor, twoFactors); got != "" {
		t.Errorf("held %s again", got)
	}
	if got := hold(nestedFactor, twoFactors, strings.Replace(secondFactor, "Second factor", "A second factor", 1)); got != "second-factor 2, nested 2, two-factors 2" {
		t.Errorf("held %s", got)
	}
}
