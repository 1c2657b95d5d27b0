package directory

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// Lists and trees from outside are bounded.
func TestBounds(t *testing.T) {
	h := furnished(t, newFixture(t))
	var wide []schemas.Resource
	for i := range 10 {
		r := schemas.Resource{Handle: fmt.Sprint("r", i)}
		for j := range 99 {
			r.Actions = append(r.Actions, schemas.ResourceAction{Handle: fmt.Sprint("a", j)})
		}
		wide = append(wide, r)
	}
	_, err := h.ResourceServers.Create(t.Context(), SystemCall(), doc(t, object(t, "handle", "wide", "name", "Wide", "resources", wide)))
	refused(t, err, schemas.CodeInvalidRequest, "resources: expected at most 999 resources and actions in all, got 1000")
	wide[9].Actions = wide[9].Actions[1:]
	h.create(t, h.ResourceServers, object(t, "handle", "wide", "name", "Wide", "resources", wide))

	var scopes []string
	for i := range 201 {
		scopes = append(scopes, fmt.Sprint("scope", i))
	}
	_, err = h.Applications.Create(t.Context(), SystemCall(), doc(t, machine(t, "Wide", strings.Join(scopes, " "))))
	refused(t, err, schemas.CodeInvalidRequest, configPath+".scope: expected at most 200 scopes, got 201")

	certificate := map[string]any{"kty": "OKP", "crv": "Ed25519", "x": strings.Repeat("A", 43), "x5c": []string{strings.Repeat("A", 40000)}}
	_, err = h.Applications.Create(t.Context(), SystemCall(), doc(t, object(t, "name", "Long", "type", "M2M", "inboundAuthConfig", []any{
		map[string]any{"type": "oauth2", "config": map[string]any{"jwks": map[string]any{"keys": []any{certificate}}}}})))
	refused(t, err, schemas.CodeInvalidRequest, configPath+".jwks: expected at most 32768 bytes")
}
