package main

import (
	"net/http"
	"testing"

	"github.com/postern-id/postern/bootstrap"
	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/runs"
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

// A run starts with the active version of its flow, also in a request that has read another run with its
// application, which includes no versions.
func TestRunsStartWithTheActiveVersion(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		first := w.start(schemas.Authentication)
		starter := &runs.Starter{Engine: w.flowEngine(), Catalog: w.catalog, Applications: w.applications}
		ctx := w.store.ReadAhead(t.Context())
		want, err := w.store.Run(ctx, first.ExecutionID)
		if err != nil {
			t.Fatal(err)
		}
		second, err := starter.Begin(ctx, bootstrap.TryID, schemas.Authentication, nil, engine.Request{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := w.store.Run(t.Context(), second.ExecutionID)
		if err != nil || got.FlowID != want.FlowID || got.FlowVersion != want.FlowVersion || got.FlowVersion == 0 {
			t.Errorf("started %s in version %d, %v; want %s in version %d", got.FlowID, got.FlowVersion, err, want.FlowID, want.FlowVersion)
		}
	})
}
