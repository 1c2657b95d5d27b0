package token

import (
	"context"
	"slices"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// A permission that the subject lost after the token was issued is not in its scope. If the
// permissions cannot be looked up, the error does not call the token invalid.
func TestGranted(t *testing.T) {
	for _, test := range []struct {
		left []string
		err  error
		code string
	}{
		{[]string{"openid", "system"}, nil, ""},
		{[]string{"openid"}, nil, ""},
		{nil, nil, ""},
		{nil, errLookup, "internal_error"},
	} {
		var asked []any
		i := newIssuerWith(t, &ring{}, Options{Now: noon, Live: func(_ context.Context, r schemas.TokenRef, subject string, scope []string) (bool, []string, error) {
			asked = []any{subject, r.Client, slices.Clone(scope)}
			return true, test.left, test.err
		}})
		raw := issueAccess(t, i, newAccess())
		c, err := i.Verify(t.Context(), raw, base)
		if code := codeOf(err); code != test.code || err == nil && !slices.Equal(c.Scope, test.left) {
			t.Errorf("with %v left: %+v, %v", test.left, c, err)
		}
		if len(asked) != 3 || asked[0] != newAccess().Subject || asked[1] != "console" || !slices.Equal(asked[2].([]string), newAccess().Scope) {
			t.Errorf("asked about %v", asked)
		}
	}
}
