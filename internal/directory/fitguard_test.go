package directory

import (
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// memberSchema is the schema of a user type with the required attributes.
func memberSchema(required string) string {
	return `{"type": "object", "additionalProperties": false, "required": [` + required + `], "properties": {
		"username": {"type": "string", "x-unique": true}, "password": {"type": "string", "x-credential": true},
		"phone": {"type": "string"}, "nickname": {"type": "string"}}}`
}

func memberType(required string) string {
	return `{"name": "Member", "schema": ` + memberSchema(required) + `}`
}

// joinFlow is a flow that asks for a username and one other input, and creates users with the
// configuration.
func joinFlow(handle, input, create string) string {
	return `{"handle": "` + handle + `", "name": "Join", "flowType": "REGISTRATION", "nodes": [
		{"id": "who", "use": "prompt", "next": "create", "with": {"inputs": [
			{"identifier": "username", "type": "TEXT_INPUT", "required": true}, {"identifier": "` + input + `", "type": "TEXT_INPUT", "required": true}],
			"actions": [{"ref": "go"}]}},
		{"id": "create", "use": "user-create", "with": ` + create + `, "next": {"created": "key", "taken": "who"}},
		{"id": "key", "use": "passkey-register", "next": "done"},
		{"id": "done", "use": "authorization-code"}]}`
}

const (
	setsPhone = `{"type": "Member", "attributes": {"username": "username", "phone": "phone"}}`
	setsName  = `{"type": "Member", "attributes": {"username": "username"}}`
	setsWrong = `{"type": "Member", "attributes": {"username": "username", "phnoe": "phone"}}`
	setsAny   = `{"attributes": {"username": "username", "phone": "phone"}}`
)

// checksFits returns a directory that compares flows with the user types, with the type Member.
func checksFits(t *testing.T, w *fixture, required string) *accessFixture {
	t.Helper()
	h := furnished(t, w)
	h.AttributeUses = func(f *schemas.Flow) schemas.AttributeUses {
		g, problems := engine.Compile(f, nodes.Kinds(nodes.Deps{}))
		if g == nil {
			t.Fatal(problems)
		}
		return g.AttributeUses()
	}
	h.ids["member"] = h.create(t, h.UserTypes, memberType(required))
	return h
}

// A flow is refused that does not set what its user type requires, or sets what the type does not
// have, also in a dry run. The error names the attribute, the node and the form.
func TestFlowsMustFitTheirUserType(t *testing.T) {
	asking := strings.Replace(strings.Replace(joinFlow("asks", "phone", setsPhone), `"created": "key"`, `"created": "more"`, 1),
		`{"id": "key"`, `{"id": "more", "use": "attributes", "with": {"attributes": ["nicknam"]}, "next": "key"}, {"id": "key"`, 1)
	tests := []struct{ name, required, flow, problem string }{
		{"fits", `"username", "phone"`, joinFlow("a", "phone", setsPhone), ""},
		{"lacks an attribute", `"username", "phone"`, joinFlow("a", "other", setsName),
			`nodes[1]: the flow "a" creates users of the type "Member" at the node "create" without the attribute "phone", which the type requires; collect an input for it in the prompt "who" and add it to ` + "`with.attributes`" + ` of the node "create" (phone: <input>)`},
		{"lacks a standard claim", `"username", "nickname"`, joinFlow("a", "other", `{"type": "Member"}`), `nodes[1]: add an input "nickname" to the prompt "who"`},
		{"lacks a password", `"username", "password"`, joinFlow("a", "phone", setsPhone), `nodes[1]: without a password, which the type requires; add a node password-set`},
		{"sets another attribute", `"username"`, joinFlow("a", "phone", setsWrong), `nodes[1]: with the attribute "phnoe", which the type does not define; did you mean "phone"? Otherwise add it`},
		{"names no type", `"username"`, joinFlow("a", "phone", strings.Replace(setsPhone, "Member", "Membre", 1)), `nodes[1]: creates users of the type "Membre" at the node "create", and there is no such type; did you mean "Member"?`},
		{"asks for an unknown attribute", `"username"`, asking, `nodes[2]: the flow "asks" asks at the node "more" for the attribute "nicknam", which no user type defines; did you mean "nickname"?`},
		{"is for no application yet", `"username", "phone"`, joinFlow("a", "other", `{}`), ""},
	}
	each(t, func(t *testing.T, w *fixture) {
		h := checksFits(t, w, `"username"`)
		for _, tt := range tests {
			t.Run(tt.name, func(t *testing.T) {
				_, err := h.UserTypes.Replace(t.Context(), SystemCall(), h.ids["member"], "", doc(t, memberType(tt.required)))
				must(t, err)
				before := h.state(t)
				checked, found, err := h.CheckFlowText(t.Context(), SystemCall(), []byte(tt.flow), true)
				must(t, err)
				path, message, misfit := strings.Cut(tt.problem, ": ")
				if misfit == (checked != nil) || misfit && (found[0].Path != path || !strings.Contains(found[0].Message, message)) {
					t.Errorf("checked alone it has the findings %v", found)
				}
				dry := SystemCall()
				dry.DryRun = true
				for _, c := range []Call{dry, SystemCall()} {
					item, err := h.Flows.Create(t.Context(), c, doc(t, tt.flow))
					if tt.problem == "" {
						must(t, err)
						if !c.DryRun {
							must(t, h.Flows.Delete(t.Context(), c, item.ID, ""))
						}
						continue
					}
					refused(t, err, schemas.CodeFlowDoesNotFit, tt.problem)
				}
				if tt.problem != "" && h.state(t)["flows"] != before["flows"] {
					t.Error("the flow was stored")
				}
			})
		}
	})
}

// A change of the type, of the application or a restored version is refused as well.
func TestChangesMustKeepFlowsFitting(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := checksFits(t, w, `"username"`)
		join := h.create(t, h.Flows, joinFlow("join", "other", setsName))
		_, err := h.Flows.Replace(t.Context(), SystemCall(), join, "", doc(t, joinFlow("join", "phone", setsPhone)))
		must(t, err)
		_, err = h.UserTypes.Replace(t.Context(), SystemCall(), h.ids["member"], "", doc(t, memberType(`"username", "phone"`)))
		must(t, err)
		_, err = h.RestoreFlow(t.Context(), SystemCall(), join, 1)
		refused(t, err, schemas.CodeFlowDoesNotFit, `nodes[1]: without the attribute "phone"`)
		_, err = h.UserTypes.Replace(t.Context(), SystemCall(), h.ids["member"], "", doc(t, memberType(`"username", "nickname"`)))
		refused(t, err, schemas.CodeFlowDoesNotFit, `schema: without the attribute "nickname"`)

		open := h.create(t, h.Flows, joinFlow("open", "phone", setsAny))
		app := func(enabled bool, types string) string {
			return object(t, "name", "Club", "registrationFlowId", open, "isRegistrationFlowEnabled", enabled, "allowedUserTypes", []string{types})
		}
		_, err = h.Applications.Create(t.Context(), SystemCall(), doc(t, app(true, "Person")))
		refused(t, err, schemas.CodeFlowDoesNotFit, `registrationFlowId: creates users of the type "Person", as for the application "Club", at the node "create" with the attribute "phone"`)
		club := h.create(t, h.Applications, app(false, "Person"))
		_, err = h.Applications.Replace(t.Context(), SystemCall(), club, "", doc(t, app(true, "Person")))
		refused(t, err, schemas.CodeFlowDoesNotFit, `registrationFlowId: with the attribute "phone"`)
		_, err = h.Applications.Replace(t.Context(), SystemCall(), club, "", doc(t, app(true, "Member")))
		must(t, err)
		_, err = h.Flows.Replace(t.Context(), SystemCall(), open, "", doc(t, joinFlow("open", "phone", setsName)))
		refused(t, err, schemas.CodeFlowDoesNotFit, `nodes[1]: without the attribute "phone"`)
		_, err = h.Applications.Replace(t.Context(), SystemCall(), club, "", doc(t, strings.Replace(app(true, "Person"), open, join, 1)))
		refused(t, err, schemas.CodeFlowDoesNotFit, `registrationFlowId: creates users of the type "Member", as for the application "Club", at the node "create", which the application does not allow`)
	})
}

// One transaction may store a flow and its user type in any order, and is refused as a whole.
func TestFitsAreCheckedAtTheEndOfATransaction(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := checksFits(t, w, `"username"`)
		join := h.create(t, h.Flows, joinFlow("join", "phone", setsName))
		change := func(flow string) error {
			return h.Transact(t.Context(), SystemCall(), func(c Call) error {
				if _, err := h.UserTypes.Replace(t.Context(), c, h.ids["member"], "", doc(t, memberType(`"username", "phone"`))); err != nil {
					return err
				}
				_, err := h.Flows.Replace(t.Context(), c, join, "", doc(t, joinFlow("join", "phone", flow)))
				return err
			})
		}
		refused(t, change(`{"type": "Member", "attributes": {"username": "username", "nickname": "phone"}}`), schemas.CodeFlowDoesNotFit, `: without the attribute "phone"`)
		must(t, change(setsPhone))
	})
}

// A stored misfit is reported, and prevents no change that introduces no other.
func TestStoredMisfits(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := checksFits(t, w, `"username"`)
		join := h.create(t, h.Flows, joinFlow("join", "phone", setsName))
		open := h.create(t, h.Flows, joinFlow("open", "other", `{"attributes": {"username": "username"}}`))
		app := func(name, userType string) string {
			return object(t, "name", name, "registrationFlowId", open, "isRegistrationFlowEnabled", true, "allowedUserTypes", []string{userType})
		}
		h.create(t, h.Applications, app("Club", "Member"))
		member, err := store.UserTypes().Get(t.Context(), h.store, h.ids["member"])
		must(t, err)
		before := member.UpdatedAt
		member.Schema, member.UpdatedAt = []byte(memberSchema(`"username", "phone"`)), nextUpdate(h.now(), before)
		must(t, h.store.Update(t.Context(), func(tx *store.Tx) error { return store.UserTypes().Replace(tx, member, before) }))
		var reported []string
		must(t, h.Misfits(t.Context(), SystemCall(), func(flow, reason string) { reported = append(reported, flow+": "+reason) }))
		slices.Sort(reported)
		if len(reported) != 2 || !strings.HasPrefix(reported[0], `join: the flow "join" creates users`) || !strings.HasPrefix(reported[1], `open: the flow "open" creates users`) {
			t.Errorf("reported %q", reported)
		}
		h.create(t, h.Applications, app("Person's", "Person")) // it starts the same flow as the club
		_, err = h.Applications.Create(t.Context(), SystemCall(), doc(t, app("Other", "Member")))
		refused(t, err, schemas.CodeFlowDoesNotFit, `registrationFlowId: as for the application "Other"`)
		_, err = h.Flows.Replace(t.Context(), SystemCall(), join, "", doc(t, strings.Replace(joinFlow("join", "phone", setsName), `"Join"`, `"Come in"`, 1)))
		must(t, err)
		_, err = h.Flows.Replace(t.Context(), SystemCall(), join, "", doc(t, joinFlow("join", "phone", setsWrong)))
		refused(t, err, schemas.CodeFlowDoesNotFit, `nodes[1]: with the attribute "phnoe"`)
		_, err = h.Flows.Replace(t.Context(), SystemCall(), join, "", doc(t, joinFlow("join", "phone", setsPhone)))
		must(t, err)
	})
}

// Callers learn nothing about resources that they may not read.
func TestMisfitsHideOtherResources(t *testing.T) {
	h := checksFits(t, newFixture(t), `"username"`)
	join := h.create(t, h.Flows, joinFlow("join", "phone", setsName))
	change := doc(t, memberType(`"username", "phone"`))
	_, err := h.UserTypes.Replace(t.Context(), as(h.ids["user"], "system:user-types"), h.ids["member"], "", change)
	refused(t, err, schemas.CodeFlowDoesNotFit, `schema: a flow creates users of the type "Member" without the attribute "phone", which the type requires; let a user who may change flows add it`)
	for _, hidden := range []string{"join", `"create"`, `"who"`} {
		if strings.Contains(err.Error(), hidden) {
			t.Errorf("the error reveals %s: %v", hidden, err)
		}
	}
	_, err = h.Flows.Replace(t.Context(), SystemCall(), join, "", doc(t, joinFlow("join", "phone", setsPhone)))
	must(t, err)
	_, err = h.UserTypes.Replace(t.Context(), SystemCall(), h.ids["member"], "", change)
	must(t, err)
	_, err = h.Flows.Replace(t.Context(), as(h.ids["user"], "system:flows"), join, "", doc(t, joinFlow("join", "phone", setsName)))
	refused(t, err, schemas.CodeFlowDoesNotFit, `nodes[1]: without an attribute, which the type requires; ask a user who may read the user types`)
	if strings.Contains(err.Error(), `the attribute "phone"`) {
		t.Errorf("the error reveals the attribute: %v", err)
	}
}
