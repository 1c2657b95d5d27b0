package directory

import (
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// A checker gets the active version of each sub-flow, and the versions that these keep to.
func TestCheckedSystem(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		inner := h.create(t, h.Flows, secondFactor)
		h.create(t, h.Flows, nestedFactor)
		h.create(t, h.Flows, strings.Replace(nestedFactor, "nested", "other", 1))
		_, err := h.Flows.Replace(t.Context(), SystemCall(), inner, "", doc(t, strings.Replace(secondFactor, "Second factor", "Second", 1)))
		must(t, err)
		h.create(t, h.Flows, twoFactors)
		h.Targets, h.SendsMail = []string{"crm"}, true

		got, err := h.CheckedSystem(t.Context(), SystemCall())
		must(t, err)
		if len(got.Subflows) != 3 || got.Subflows[0].ActiveVersion != 2 || used(&got.Subflows[1]) != "second-factor 1" {
			t.Errorf("the sub-flows are %+v", got.Subflows)
		}
		if len(got.Parts) != 1 || got.Parts[0].ID != inner || got.Parts[0].ActiveVersion != 1 || got.Parts[0].FlowType != schemas.Subflow {
			t.Errorf("the parts are %+v", got.Parts)
		}
		if len(got.Targets) != 1 || !got.SendsMail {
			t.Errorf("the services are %v, %v", got.Targets, got.SendsMail)
		}
	})
}
