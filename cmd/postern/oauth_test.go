package main

import (
	"fmt"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// client makes an application that is a client for client_credentials with a
// scope, and returns how it authenticates.
func (w *rig) client(scope string) (id, secret string) {
	w.t.Helper()
	text := fmt.Sprintf(`{"name":%q,"inboundAuthConfig":[{"type":"oauth2","config":{"grantTypes":["client_credentials"],"scope":%q}}]}`, schemas.NewID(), scope)
	d, problems := schemas.ParseJSON([]byte(text))
	if len(problems) > 0 {
		w.t.Fatal(problems)
	}
	item, err := w.directory.Applications.Create(w.t.Context(), directory.System(), d)
	if err != nil {
		w.t.Fatal(err)
	}
	made, ok := item.Value.(*schemas.Application)
	if !ok {
		w.t.Fatalf("made a %T", item.Value)
	}
	return made.ClientID, made.ClientSecret
}
