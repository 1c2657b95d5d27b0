package directory

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

func flowOf(item *Item) *schemas.Flow { return item.Value.(*schemas.Flow) }

// Each change of a flow creates a version; an unchanged flow does not.
func TestVersionsOfFlows(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		id := h.ids["signin"]
		first, err := h.Flows.Get(t.Context(), SystemCall(), id)
		must(t, err)
		same, err := h.Flows.Replace(t.Context(), SystemCall(), id, first.ETag, doc(t, "\n\n"+strings.ReplaceAll(signInFlow, ": ", " :  ")))
		must(t, err)
		if same.ETag != first.ETag || flowOf(same).ActiveVersion != 1 {
			t.Errorf("the same definition, written otherwise, became version %d", flowOf(same).ActiveVersion)
		}
		second, err := h.Flows.Replace(t.Context(), SystemCall(), id, first.ETag, doc(t, strings.Replace(signInFlow, `"In"`, `"Inside"`, 1)))
		must(t, err)
		if second.ETag == first.ETag || flowOf(second).ActiveVersion != 2 || !flowOf(second).CreatedAt.Equal(*flowOf(first).CreatedAt) {
			t.Errorf("a change became %+v", second.Value)
		}
		_, err = h.Flows.Replace(t.Context(), SystemCall(), id, first.ETag, doc(t, signInFlow))
		refused(t, err, schemas.CodePreconditionFailed)
		refused(t, h.Flows.Delete(t.Context(), SystemCall(), id, first.ETag), schemas.CodePreconditionFailed)

		third, err := h.RestoreFlow(t.Context(), SystemCall(), id, 1)
		must(t, err)
		if f := flowOf(third); f.ActiveVersion != 3 || f.Name != "In" {
			t.Errorf("version 1 was restored as %+v", f)
		}
		again, err := h.RestoreFlow(t.Context(), SystemCall(), id, 3)
		must(t, err)
		if again.ETag != third.ETag {
			t.Error("restoring what is there changed it")
		}
		versions, err := h.FlowVersions(t.Context(), SystemCall(), id, Query{Limit: 10})
		must(t, err)
		if len(versions) != 3 || versions[0].Version != 3 || !versions[0].Active || versions[1].Name != "Inside" {
			t.Errorf("the versions are %+v", versions)
		}
		kept, err := h.FlowVersion(t.Context(), SystemCall(), id, 2)
		must(t, err)
		if f := flowOf(kept); f.Name != "Inside" || f.ActiveVersion != 2 {
			t.Errorf("version 2 is %+v", f)
		}
		if got := strings.Join(h.events(t)[:3], " "); got != "flow.restored flow.replaced role.created" {
			t.Errorf("the last events are %s", got)
		}
		for _, ask := range []func() error{
			func() error { _, err := h.FlowVersion(t.Context(), SystemCall(), id, 4); return err },
			func() error { _, err := h.RestoreFlow(t.Context(), SystemCall(), id, 0); return err },
			func() error {
				_, err := h.FlowVersions(t.Context(), SystemCall(), "none", Query{Limit: 1})
				return err
			},
			func() error {
				_, err := h.Flows.Replace(t.Context(), SystemCall(), "none", "", doc(t, signInFlow))
				return err
			},
		} {
			refused(t, ask(), schemas.CodeFlowNotFound)
		}
	})
}

// A restored version is proven again, and its handle must be free.
func TestRestoredFlowsAreProven(t *testing.T) {
	h := furnished(t, newFixture(t))
	now := h.now()
	unsafe := schemas.Flow{ID: schemas.NewID(), Handle: "unsafe", Name: "Unsafe", FlowType: schemas.Authentication, CreatedAt: &now, UpdatedAt: &now,
		Nodes: []schemas.Node{{ID: "done", Use: "authorization-code"}}}
	must(t, h.store.Update(t.Context(), func(tx *store.Tx) error { return store.Flows().Insert(tx, &unsafe) }))
	_, err := h.Flows.Replace(t.Context(), SystemCall(), unsafe.ID, "", doc(t, strings.Replace(signInFlow, `"sign-in"`, `"safe"`, 1)))
	must(t, err)
	_, err = h.RestoreFlow(t.Context(), SystemCall(), unsafe.ID, 1)
	refused(t, err, schemas.CodeInvalidFlow, "nodes[0]: authenticated user")
	h.create(t, h.Flows, strings.Replace(signInFlow, `"sign-in"`, `"unsafe"`, 1))
	_, err = h.RestoreFlow(t.Context(), SystemCall(), unsafe.ID, 1)
	refused(t, err, schemas.CodeInvalidFlow, "nodes[0]: authenticated user", `handle: "unsafe" already belongs to another`)
}

func TestFlowsKeepTheirTypeAndHandle(t *testing.T) {
	h := furnished(t, newFixture(t))
	_, err := h.Flows.Replace(t.Context(), SystemCall(), h.ids["signin"], "", doc(t, strings.Replace(signUpFlow, "passkey-sign-up", "other", 1)))
	refused(t, err, schemas.CodeInvalidFlow, "flowType: expected AUTHENTICATION, got \"REGISTRATION\"")
	// Flows of two types may share a handle.
	other := h.create(t, h.Flows, strings.Replace(signUpFlow, "passkey-sign-up", "sign-in", 1))
	for key, id := range map[string]string{"AUTHENTICATION/sign-in": h.ids["signin"], "REGISTRATION/sign-in": other, "sign-in": "", "AUTHENTICATION/passkey-sign-up": ""} {
		item, err := h.Flows.Find(t.Context(), SystemCall(), key)
		must(t, err)
		if (item == nil) != (id == "") || item != nil && item.ID != id {
			t.Errorf("%s is %v, expected %q", key, item, id)
		}
	}
	page, err := h.Flows.List(t.Context(), SystemCall(), Query{Limit: 10, Filter: "flowType", Value: "REGISTRATION"})
	must(t, err)
	if page.Total != 2 || len(page.Items) != 2 {
		t.Errorf("there are %d flows of the type, expected 2", page.Total)
	}
	_, err = h.Flows.List(t.Context(), SystemCall(), Query{Limit: 10, Filter: "flowTpye"})
	refused(t, err, schemas.CodeInvalidRequest)
}

// Only the server itself changes its own flows.
func TestReadOnlyFlows(t *testing.T) {
	h := furnished(t, newFixture(t))
	admin := as(h.ids["user"], "system")
	body := `{"handle": "ours", "name": "Ours", "flowType": "AUTHENTICATION", "isReadOnly": true, "nodes": ` + passkeyNodes + `}`
	ours := h.create(t, h.Flows, body)
	_, err := h.Flows.Replace(t.Context(), admin, ours, "", doc(t, strings.Replace(body, `"Ours"`, `"Mine"`, 1)))
	refused(t, err, schemas.CodeReadOnly, ": is read-only")
	refused(t, h.Flows.Delete(t.Context(), admin, ours, ""), schemas.CodeReadOnly, ": is read-only")
	_, err = h.Flows.Replace(t.Context(), SystemCall(), ours, "", doc(t, strings.Replace(body, `"Ours"`, `"Better"`, 1)))
	must(t, err)
	mine, err := h.Flows.Create(t.Context(), admin, doc(t, strings.Replace(body, `"ours"`, `"mine"`, 1)))
	must(t, err)
	if flowOf(mine).IsReadOnly {
		t.Error("who is not the program made a flow read-only")
	}
}

// Waived findings are shown with the flow, with their positions in the text.
func TestWaivedFindingsStayVisible(t *testing.T) {
	const body = `handle: enrol
name: Enrol
flowType: REGISTRATION
waive:
  - {rule: takeover, node: key, reason: An employee is present.}
nodes:
  - id: who
    use: prompt
    with: {inputs: [{identifier: username, type: TEXT_INPUT, required: true}], actions: [{ref: go, label: Go}]}
    next: find
  - {id: find, use: user-resolve, with: {by: [username], from: username}, next: {found: key, missing: who}}
  - id: key
    use: passkey-register
    next: end
`
	h := furnished(t, newFixture(t))
	d, problems := schemas.ParseYAML([]byte(body))
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	made, err := h.Flows.Create(t.Context(), SystemCall(), d)
	must(t, err)
	got, err := h.Flows.Get(t.Context(), SystemCall(), made.ID)
	must(t, err)
	for _, item := range []*Item{made, got} {
		if len(item.Warnings) != 1 || item.Warnings[0].Rule != "takeover" || !item.Warnings[0].Warning {
			t.Errorf("the warnings are %v", item.Warnings)
		}
	}
	if p := made.Warnings[0]; p.Line != 12 {
		t.Errorf("the finding stands in line %d, expected 12: %v", p.Line, p)
	}
	// Findings that refuse a flow have positions too, also those of the directory.
	d, _ = schemas.ParseYAML(bytes.Replace([]byte(body), []byte("passkey-register"), []byte("passkey-registre"), 1))
	_, err = h.Flows.Create(t.Context(), SystemCall(), d)
	refused(t, err, schemas.CodeInvalidFlow, `handle: "enrol" already belongs to another`, "waive[0]: no finding", `nodes[2].use: did you mean "passkey-register"`)
	for i, line := range []int{1, 5, 13} {
		if p := schemas.AsError(err).Errors[i]; p.Line != line {
			t.Errorf("%v stands in line %d, expected %d", p, p.Line, line)
		}
	}
	if flow, found, err := h.CheckFlowText(t.Context(), SystemCall(), []byte(body), true); err != nil || flow == nil || len(found) != 1 {
		t.Errorf("checked alone it has the findings %v", found)
	}
}

// Digests depend on the definition alone.
func TestDigestsOfFlows(t *testing.T) {
	h := furnished(t, newFixture(t))
	id := h.ids["signin"]
	_, err := h.Flows.Replace(t.Context(), SystemCall(), id, "", doc(t, strings.Replace(signInFlow, `"In"`, `"Inside"`, 1)))
	must(t, err)
	_, err = h.RestoreFlow(t.Context(), SystemCall(), id, 1)
	must(t, err)
	events, err := h.store.Events(t.Context(), schemas.EventQuery{Limit: 3, ResourceID: id})
	must(t, err)
	restored, replaced, created := events[0], events[1], events[2]
	if restored.After != created.After || replaced.Before != created.After || replaced.After == created.After || restored.Detail["version"] != "1" {
		text, _ := json.Marshal(events)
		t.Errorf("the events are %s", text)
	}
}
