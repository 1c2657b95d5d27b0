package nodes

import (
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// An event names only an authenticated user as its actor.
func TestActorOfAnEvent(t *testing.T) {
	ada := schemas.Actor{Type: schemas.UserActor, ID: "ada", Client: "app-1"}
	for name, test := range map[string]struct {
		make  func(*engine.Visit, string, string, map[string]string) schemas.RecordEvent
		visit *engine.Visit
		want  schemas.Actor
	}{
		"nobody":                  {event, visit(), schemas.Actor{}},
		"merely named":            {event, visit(known("ada")), schemas.Actor{}},
		"authenticated":           {event, visit(known("ada"), authenticated("phr", "swk")), ada},
		"made by this run":        {event, visit(drafted(&schemas.User{ID: "ada"})), ada},
		"authenticated just now":  {proof, visit(known("ada")), ada},
		"through no application ": {proof, visit(func(v *engine.Visit) { v.Application = nil }), schemas.Actor{Type: schemas.UserActor, ID: "ada"}},
	} {
		got := test.make(test.visit, "user.tested", "ada", nil).Event
		if got.Actor != test.want || got.UserID != "ada" {
			t.Errorf("%s: %+v did it to %q, want %+v", name, got.Actor, got.UserID, test.want)
		}
	}
}

func TestPasswordIsAProof(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "password-authenticate", `{}`, nil)
	d := left(t, run(t, exec, visit(known("ada"), answer("continue", "password", "analytical engine"))), "success")
	if e, _ := d.Changes[0].(schemas.RecordEvent); e.Event.Action != "password.used" || e.Event.Actor.ID != "ada" {
		t.Errorf("recorded %+v", d.Changes[0])
	}
}
