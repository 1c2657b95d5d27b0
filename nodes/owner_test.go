package nodes

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// A flow neither asks for an attribute of another owner nor changes the address of a provider. What belongs to
// the user or to flows it changes.
func TestFlowsKeepOwners(t *testing.T) {
	owned := func(attribute, owner string) []schemas.AttributeOwner {
		return []schemas.AttributeOwner{{Attribute: attribute, Owner: owner, ProviderID: "corp", ProviderName: "Example Corp"}}
	}
	for owner, asks := range map[string]bool{
		schemas.OwnerProvider: false, schemas.OwnerAdministrator: false, schemas.OwnerUser: true, schemas.OwnerFlow: true,
	} {
		w := newFixture(t)
		w.directory.owners = owned("nickname", owner)
		d := run(t, w.make(t, "attributes", `{"attributes": ["nickname"]}`, nil), visit(known("ada"), authenticated("phrh", "hwk")))
		if (d.Ask != nil) != asks {
			t.Errorf("%s: the decision is %+v", owner, d)
		}
		if asks {
			continue // a code is sent
		}
		w.directory.owners = owned("email", owner)
		v := visit(known("ada"), authenticated("phrh", "hwk"), answer(submitAction, newEmailInput, "new@example.org"))
		v.NodeState = []byte(`{}`)
		d = run(t, w.make(t, "email-change", `{}`, nil), v)
		if len(d.Changes) > 0 || d.Ask == nil || len(d.Ask.FieldErrors) != 1 || !strings.Contains(d.Ask.FieldErrors[0].Message, "managed elsewhere") {
			t.Errorf("%s: the decision is %+v", owner, d)
		}
	}
}
