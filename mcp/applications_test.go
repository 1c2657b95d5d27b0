package mcp_test

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// What a get tool answers the update tool takes, and the secret is kept.
func TestReadResourcesCanBeWritten(t *testing.T) {
	w := newFixture(t)
	for name, get := range map[string]func() json.RawMessage{
		"by id": func() json.RawMessage { return w.ok("service_get_application_by_id", `{"id": "`+shopID+`"}`, nil).Data },
		"by client id": func() json.RawMessage {
			return w.ok("service_get_application_by_client_id", `{"client_id": "shop"}`, nil).Data
		},
	} {
		before := get()
		if strings.Contains(string(before), shopSecret) || strings.Contains(string(before), "ecret\":") {
			t.Errorf("%s: a secret is shown: %s", name, before)
		}
		if after := w.ok("service_update_application", before, nil).Data; string(after) != string(before) {
			t.Errorf("%s: sent back unchanged it became\n%s, it was\n%s", name, after, before)
		}
		var app map[string]any
		must(t, json.Unmarshal(before, &app))
		app["description"] = "Changed " + name
		var changed schemas.Application
		w.ok("service_update_application", app, &changed)
		if changed.Description != "Changed "+name || changed.ClientSecret != "" || changed.Name != "Shop" || changed.OAuth().ClientID != "shop" {
			t.Errorf("%s: it became %+v", name, changed)
		}
	}
	app, err := w.directory.Client(t.Context(), "shop")
	must(t, err)
	if !w.directory.CheckSecret(app, shopSecret) {
		t.Error("the client's secret is no longer what it was")
	}
}

// An update replaces the whole: what is left out is gone.
func TestUpdateReplacesTheWhole(t *testing.T) {
	w := newFixture(t)
	var app schemas.Application
	w.ok("service_update_application", `{"id": "`+shopID+`", "name": "Shop"}`, &app)
	if app.URL != "" || app.Type != "" || app.OAuth() != nil {
		t.Errorf("something stayed: %+v", app)
	}
}

func TestListApplications(t *testing.T) {
	w := newFixture(t)
	var list struct {
		Total        int              `json:"total_count"`
		Applications []map[string]any `json:"applications"`
	}
	w.ok("service_list_applications", `{}`, &list)
	want := map[string]any{"id": shopID, "name": "Shop", "type": "SERVER", "url": "https://shop.example.com", "clientId": "shop"}
	if list.Total != 1 || len(list.Applications) != 1 || !reflect.DeepEqual(list.Applications[0], want) {
		t.Errorf("listed: %v", list)
	}
}

// The secret of a client is in the answer that makes it, in a dry run none is.
func TestSecretsAreShownOnce(t *testing.T) {
	w := newFixture(t)
	const client = `{"name": "Machine", "type": "M2M", "inboundAuthConfig": [{"type": "oauth2", "config": {"scopes": ["system"]}}]`
	var rehearsed, made, got schemas.Application
	r := w.ok("service_create_application", client+`, "dry_run": true}`, &rehearsed)
	if rehearsed.ClientSecret+rehearsed.OAuth().ClientSecret != "" || !strings.Contains(r.Content[1].Text, "dry run") {
		t.Errorf("a dry run shows a secret, or does not say that it is one: %+v", r)
	}
	r = w.ok("service_create_application", client+`}`, &made)
	if len(made.ClientSecret) < 40 || made.ClientSecret != made.OAuth().ClientSecret || !strings.Contains(r.Content[1].Text, "only once") {
		t.Errorf("made: %+v", made)
	}
	w.ok("service_get_application_by_id", map[string]any{"id": made.ID}, &got)
	if got.ClientSecret+got.OAuth().ClientSecret != "" || got.ClientID != made.ClientID {
		t.Errorf("got: %+v", got)
	}
	app, err := w.directory.Client(t.Context(), made.ClientID)
	must(t, err)
	if !w.directory.CheckSecret(app, made.ClientSecret) {
		t.Error("the secret that was shown is not the client's")
	}
}

// A dry run finds what is wrong, and keeps nothing.
func TestDryRuns(t *testing.T) {
	w := newFixture(t)
	before := w.events()
	w.ok("service_create_application", `{"name": "New", "dry_run": true}`, nil)
	w.refused("service_create_application", `{"name": "Shop", "dry_run": true}`, "application_exists")
	w.ok("service_update_application", `{"id": "`+shopID+`", "name": "Renamed", "dry_run": true}`, nil)
	w.refused("service_update_application", `{"id": "`+shopID+`", "name": " ", "dry_run": true}`, "invalid_request")
	w.ok("service_create_flow", `{"handle": "new", "name": "New", "flowType": "AUTHENTICATION", "nodes": `+passkeyNodes+`, "dry_run": true}`, nil)
	w.ok("service_update_flow", `{"id": "`+signInID+`", "name": "Renamed", "nodes": `+passkeyNodes+`, "dry_run": true}`, nil)
	if after := w.events(); !slices.Equal(after, before) {
		t.Errorf("something was recorded: %q", after)
	}
	var app schemas.Application
	w.ok("service_get_application_by_id", `{"id": "`+shopID+`"}`, &app)
	if app.Name != "Shop" || app.OAuth() == nil {
		t.Errorf("it is now %+v", app)
	}
	// "false" is a write like any other.
	w.ok("service_create_application", `{"name": "New", "dry_run": false}`, nil)
	if after := w.events(); len(after) != len(before)+1 || after[0] != "application.created" {
		t.Errorf("recorded: %q", after)
	}
}

// events are the actions of the audit log, newest first.
func (w *fixture) events() (actions []string) {
	w.t.Helper()
	events, err := w.db.Events(w.t.Context(), schemas.EventQuery{Limit: 1000})
	must(w.t, err)
	for _, e := range events {
		actions = append(actions, e.Action)
	}
	return actions
}

// What is written is written in the name of who calls, and by what they may do.
func TestWritesNeedTheCallersPermissions(t *testing.T) {
	w := newFixture(t)
	var app schemas.Application
	w.ok("service_create_application", `{"name": "New"}`, &app)
	events, err := w.db.Events(t.Context(), schemas.EventQuery{Limit: 1, ResourceID: app.ID})
	must(t, err)
	if len(events) != 1 || events[0].Actor.ID != ada || events[0].TraceID != "a-trace" {
		t.Errorf("recorded: %+v", events)
	}
	w.caller = directory.Call{Actor: w.caller.Actor, Permissions: []string{"system:applications:write"}, TraceID: "a-trace"}
	e := w.refused("service_create_application", `{"name": "Greedy", "type": "M2M", "inboundAuthConfig": [{"type": "oauth2", "config": {"scopes": ["system"]}}]}`, "forbidden")
	if len(e.Errors) != 1 || e.Errors[0].Path != "inboundAuthConfig[0].config.scopes[0]" {
		t.Errorf("got: %v", e.Errors)
	}
}

// Every template makes an application once its placeholders are filled in, and
// makes none while they are not.
func TestTemplates(t *testing.T) {
	w := newFixture(t)
	var list struct {
		Templates []struct {
			Type, Description string
			Placeholders      []string
			Application       json.RawMessage
		}
	}
	w.ok("service_get_application_templates", `{}`, &list)
	var types []string
	for _, template := range list.Templates {
		types = append(types, template.Type)
		filled := dropAnnotations(t, template.Application)
		for _, placeholder := range template.Placeholders {
			value := map[string]string{
				"APPLICATION_NAME": "Made of " + template.Type, "SCOPE": "system:applications:read",
				"REDIRECT_URI": "https://app.example.com/callback", "POST_LOGOUT_REDIRECT_URI": "https://app.example.com/",
			}[placeholder]
			if value == "" || !strings.Contains(filled, "<"+placeholder+">") {
				t.Errorf("%s: the placeholder %s is unknown, or not there", template.Type, placeholder)
			}
			filled = strings.ReplaceAll(filled, "<"+placeholder+">", value)
		}
		if strings.ContainsAny(filled, "<>") {
			t.Errorf("%s: there is an undeclared placeholder: %s", template.Type, filled)
		}
		if r := w.call("service_create_application", string(template.Application)); !r.IsError {
			t.Errorf("%s: it is taken as it is", template.Type)
		}
		var app schemas.Application
		w.ok("service_create_application", filled, &app)
		confidential := template.Type == schemas.ServerApp || template.Type == schemas.MachineApp
		if app.Type != template.Type || *app.OAuth().PublicClient == confidential || (app.ClientSecret != "") != confidential || *app.OAuth().PKCERequired == (template.Type == schemas.MachineApp) {
			t.Errorf("%s: it became %+v", template.Type, app)
		}
	}
	if want := []string{schemas.SinglePageApp, schemas.MobileApp, schemas.ServerApp, schemas.MachineApp}; !slices.Equal(types, want) {
		t.Errorf("there are templates for %q, expected %q", types, want)
	}
}

func TestRefusedApplications(t *testing.T) {
	w := newFixture(t)
	w.refused("service_get_application_by_id", `{"id": "01900000-0000-7000-8000-0000000000ff"}`, "application_not_found")
	w.refused("service_get_application_by_client_id", `{"client_id": "shopp"}`, "application_not_found")
	w.refused("service_update_application", `{"id": "01900000-0000-7000-8000-0000000000ff", "name": "A"}`, "application_not_found")
	e := w.refused("service_create_application", `{"nam": "A", "type": "APP", "url": "example.com", "inboundAuthConfig": [{"type": "oauth2", "config": {"redirectUri": ["https://a.example.com"]}}]}`, "invalid_request")
	if len(e.Errors) < 4 {
		t.Errorf("not all errors are reported: %v", e.Errors)
	}
}

const passkeyNodes = `[{"id": "key", "use": "passkey-authenticate", "next": "done"}, {"id": "done", "use": "authorization-code"}]`
