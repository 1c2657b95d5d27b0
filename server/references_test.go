package server_test

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// A reference is a handle, a name or an id, and is stored and shown in one form.
func TestReferencesTakeAHandleOrAnID(t *testing.T) {
	h := newTestServer(t)
	unit := h.create("/organization-units", `{"handle":"sales","name":"Sales"}`)
	page, _ := h.ok(200, "GET /user-types", "")
	person := page.list("userTypes")[0].text("id")
	eachNoun(t, h, func(t *testing.T, h *testServer, n directory.Noun, s sample) {
		member := "ouId"
		switch n.Plural {
		case "flows", "identityProviders":
			return // they refer to no unit
		case "organizationUnits":
			member = "parentId"
		}
		for _, reference := range []string{"sales", unit} {
			made, _ := h.ok(201, "POST "+n.Path, change(t, numbered(s.body, "1"), member, reference))
			at := n.Path + "/" + made.text("id")
			read, rec := h.ok(200, "GET "+at, "")
			if made.text(member) != unit || read.text(member) != unit {
				t.Errorf("%s %q became %q, shown as %q", member, reference, made.text(member), read.text(member))
			}
			tag := rec.Header().Get("ETag")
			if _, rec := h.ok(200, "PUT "+at, change(t, numbered(s.body, "1"), member, "sales")); rec.Header().Get("ETag") != tag {
				t.Error("the same reference in another form changed the resource")
			}
			h.ok(204, "DELETE "+at, "")
		}
		f := fails(t, h.do("POST", n.Path, change(t, numbered(s.body, "1"), member, "no-such-unit"), h.admin), 400, schemas.CodeInvalidRequest)
		if len(f.Errors) != 1 || f.Errors[0].Path != member {
			t.Errorf("%+v", f.Errors)
		}
	})
	// A sign-in and a sign-up of one handle: each member takes the flow of its own type.
	flow := `{"handle":"twice","name":"A flow","flowType":"TYPE","nodes":[{"id":"first","use":"KIND","next":"end"}]}`
	signIn := h.create("/flows", strings.NewReplacer("TYPE", "AUTHENTICATION", "KIND", "prove").Replace(flow))
	signUp := h.create("/flows", strings.NewReplacer("TYPE", "REGISTRATION", "KIND", "form").Replace(flow))
	app, _ := h.ok(201, "POST /applications", `{"name":"Shop","authFlowId":"twice","registrationFlowId":"twice","allowedUserTypes":["`+person+`"]}`)
	if app.text("authFlowId") != signIn || app.text("registrationFlowId") != signUp || app["allowedUserTypes"].([]any)[0] != "Person" {
		t.Errorf("%v", app)
	}
	if user, _ := h.ok(201, "POST /users", `{"type":"`+person+`","attributes":{"username":"grace"}}`); user.text("type") != "Person" {
		t.Errorf("%v", user)
	}
	fails(t, h.do("POST", "/applications", `{"name":"Other","authFlowId":"passkey-sign-up"}`, h.admin), 400, schemas.CodeInvalidRequest)
}
