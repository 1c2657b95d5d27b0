package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server"
)

// Only a trusted application shows the name and logo of its organization unit.
func TestFlowMetaBrand(t *testing.T) {
	unit := schemas.Brand{Name: "Acme", LogoURL: "https://acme.example/logo.png"}
	var failure error
	w := newPasskeyFixture(t, func(o *server.Options) {
		o.Service = schemas.Brand{Name: "Accounts", LogoURL: "data:image/png;base64,AA=="}
		o.Brand = func(_ context.Context, id string) (*schemas.Brand, error) {
			if id != "acme" {
				return nil, failure
			}
			return &unit, failure
		}
	})
	var changed time.Time
	for name, test := range map[string]struct {
		app  schemas.Application
		want schemas.Brand
	}{
		"of a unit":    {schemas.Application{OUID: "acme"}, unit},
		"without one":  {schemas.Application{OUID: "other"}, schemas.Brand{Name: "Accounts", LogoURL: "data:image/png;base64,AA=="}},
		"unverified":   {schemas.Application{OUID: "acme", LogoURL: unit.LogoURL, Registration: schemas.RegisteredDynamically}, schemas.Brand{Name: "Accounts", LogoURL: "data:image/png;base64,AA=="}},
		"verified":     {schemas.Application{OUID: "acme", Registration: schemas.RegisteredDynamically, Verified: true}, unit},
		"by documents": {schemas.Application{OUID: "acme", Registration: schemas.RegisteredByDocument}, schemas.Brand{Name: "Accounts", LogoURL: "data:image/png;base64,AA=="}},
	} {
		changed = changed.Add(time.Second)
		test.app.ID, test.app.Name, test.app.UpdatedAt = "shown", "Shown", changed
		w.store.apps["shown"] = test.app
		rec := w.do("GET", "/flow/meta?id=shown", "")
		var got struct {
			Brand       schemas.Brand
			Application struct {
				LogoURL    string
				Unverified bool
			}
		}
		if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil || got.Brand != test.want {
			t.Errorf("%s: %+v, %v; want %v", name, got, err, test.want)
		}
		if a := got.Application; a.Unverified == test.app.IsTrusted() || a.Unverified && a.LogoURL != "" {
			t.Errorf("%s: %+v", name, a)
		}
	}
	failure = errors.New("no store")
	if rec := w.do("GET", "/flow/meta?id=app", ""); rec.Code != http.StatusInternalServerError {
		t.Errorf("a failure: %d %s", rec.Code, rec.Body)
	}
}
