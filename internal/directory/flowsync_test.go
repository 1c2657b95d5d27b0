package directory

import (
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// Flows stored from files can be changed only through their files.
func TestHeldFlows(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		admin := as(h.ids["user"], "system")
		hold := func(want []SyncedFlow, texts ...string) {
			t.Helper()
			var documents []*schemas.Document
			for _, text := range texts {
				documents = append(documents, doc(t, text))
			}
			got, err := h.SyncFlowsFromFiles(t.Context(), documents)
			must(t, err)
			if !slices.Equal(got, want) {
				t.Errorf("held are %v, expected %v", got, want)
			}
		}
		other := strings.Replace(signInFlow, `"sign-in"`, `"other"`, 1)
		hold([]SyncedFlow{{"sign-in", 2, true}, {"other", 1, true}}, signInFlow, other) // the first existed and was writable
		hold([]SyncedFlow{{"sign-in", 2, false}, {"other", 1, false}}, signInFlow, other)
		_, err := h.Flows.Replace(t.Context(), admin, h.ids["signin"], "", doc(t, strings.Replace(signInFlow, `"In"`, `"Mine"`, 1)))
		refused(t, err, schemas.CodeReadOnly)

		// The flow of a deleted file becomes writable, since applications may still use it.
		hold([]SyncedFlow{{"other", 1, false}}, other)
		_, err = h.Flows.Replace(t.Context(), admin, h.ids["signin"], "", doc(t, strings.Replace(signInFlow, `"In"`, `"Mine"`, 1)))
		must(t, err)
		if got := strings.Join(h.events(t)[:3], " "); got != "flow.replaced flow.released flow.created" {
			t.Errorf("the last events are %s", got)
		}

		// If one file is wrong, no flow changes.
		_, err = h.SyncFlowsFromFiles(t.Context(), []*schemas.Document{
			doc(t, strings.Replace(signUpFlow, "passkey-sign-up", "third", 1)),
			doc(t, strings.Replace(other, `"nodes"`, `"id": "`+schemas.NewID()+`", "nodes"`, 1)),
		})
		refused(t, err, schemas.CodeInvalidFlow)
		if item, err := h.Flows.Find(t.Context(), SystemCall(), "REGISTRATION/third"); item != nil || err != nil {
			t.Errorf("half of it was done: %v, %v", item, err)
		}
		hold(nil)
		refused(t, h.Flows.Delete(t.Context(), admin, h.ids["signin"], "x"), schemas.CodePreconditionFailed)
	})
}
