package main

import (
	"net/http"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// An application that was read before is returned as it is now.
func TestApplicationsAreCurrent(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		admin := w.admin()
		id := w.made(admin, "/applications", `{"name":"Shop","url":"https://shop.example"}`)
		for _, name := range []string{"Shop", "Store", "Market"} {
			if rec := w.call(http.MethodPatch, "/applications/"+id, admin, `{"name":"`+name+`"}`); rec.Code != http.StatusOK {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
			for range 2 {
				app, err := w.applications.Application(t.Context(), id)
				if err != nil || app.Name != name || app.URL != "https://shop.example" || app.AuthFlowVersion == 0 {
					t.Errorf("got %+v, %v, want the name %s", app, err, name)
				}
			}
		}
		if rec := w.call(http.MethodDelete, "/applications/"+id, admin, ""); rec.Code != http.StatusNoContent {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		if app, err := w.applications.Application(t.Context(), id); !schemas.HasClass(err, schemas.NotFound) {
			t.Errorf("the deleted application: %+v, %v", app, err)
		}
	})
}
