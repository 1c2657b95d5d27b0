package flowtest

import (
	"context"
	"encoding/json"
	"maps"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// claims returns the claims of a token as plain JSON: scenarios check the claims, not the
// signature.
type claims struct{}

// Assert returns the claims as a JSON object.
func (claims) Assert(_ context.Context, a schemas.Assertion) (string, error) {
	all := maps.Clone(a.Profile)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, map[string]any{
		"sub": a.Subject, "aud": a.Audience, "amr": a.AMR, "acr": a.ACR, "auth_time": a.AuthTime.Unix(),
		"scope": strings.Join(a.Permissions, " "), "userType": a.UserType, "ouId": a.OUID, "sid": a.Session,
	})
	text, err := json.Marshal(all)
	return string(text), err
}

// AssertionTTL is an hour, the default of the server.
func (claims) AssertionTTL() time.Duration { return time.Hour }
