package main

import (
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/token"
	"github.com/postern-id/postern/schemas"
)

// An assistant that acts for an administrator who has a passkey makes sensitive changes only after a
// recent sign-in with it, and is asked for one otherwise. The same changes of a client, and harmless
// ones, need none.
func TestToolsNeedAPasskeyForSensitiveChanges(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, w *testApp) {
		w.enrol("ada")
		ada := w.userNamed("ada")
		w.create(w.directory.Roles, `{"name":"Owners","permissions":["system"],"assignments":[{"type":"user","id":"`+ada+`"}]}`)
		console, err := w.store.ApplicationByClientID(t.Context(), "CONSOLE")
		if err != nil {
			t.Fatal(err)
		}
		flow, err := w.directory.Flows.Find(t.Context(), directory.SystemCall(), "AUTHENTICATION/"+directory.DefaultSignIn)
		if err != nil {
			t.Fatal(err)
		}
		stored := flow.Value.(*schemas.Flow)
		nodes := datatest.Marshal(t, map[string]any{"nodes": stored.Nodes, "guarantees": stored.Guarantees})
		access := func(age time.Duration, acr, method string) string {
			raw, err := w.tokens.Access(t.Context(), token.Claims{Subject: ada, ClientID: "CONSOLE", Generation: console.TokenGeneration, Audience: []string{w.origin, w.origin + "/mcp"},
				Scope: []string{"system"}, AuthTime: time.Now().Add(-age), ACR: acr, AMR: []string{method}})
			if err != nil {
				t.Fatal(err)
			}
			return raw
		}
		machine := w.assistant()
		byPassword, late, fresh := access(0, schemas.ACRPassword, "pwd"), access(time.Hour, schemas.ACRPhishingResistant, "pop"), access(0, schemas.ACRPhishingResistant, "pop")
		for _, tt := range []struct {
			tool, arguments string
			sensitive       bool
		}{
			{"service_create_application", `{"name":"Shop"}`, false},
			{"service_create_application", `{"name":"Robot","inboundAuthConfig":[{"type":"oauth2","config":{"grantTypes":["client_credentials"],"scopes":["system"]}}]}`, true},
			{"service_update_flow", `{"id":"` + flow.ID + `","name":"Changed",` + string(nodes[1:]), true},
		} {
			for who, raw := range map[string]string{"a password": byPassword, "an old passkey sign-in": late, "a passkey": fresh, "a client": machine} {
				refused := tt.sensitive && (who == "a password" || who == "an old passkey sign-in")
				said, failed := w.callTool(raw, tt.tool, strings.Replace(tt.arguments, `"name":"`, `"name":"`+who+" ", 1))
				if failed != refused || refused && !strings.Contains(said, "passkey") {
					t.Errorf("%s %s with %s: failed %v: %s", tt.tool, tt.arguments, who, failed, said)
				}
			}
		}
	})
}
