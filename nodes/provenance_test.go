package nodes

import (
	"slices"
	"testing"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// Nodes that authenticate accept a limited credential for what it is worth, unless the flow
// guarantees more.
func TestLimitedCredentials(t *testing.T) {
	mail := schemas.Provenance{ACR: schemas.ACRVouched, Methods: []string{schemas.AMREmail}}
	w := newFixture(t)
	key := totp.New(totp.SHA1, 6)
	code := currentCode(t, key)
	w.deps.Box = labelled{}
	w.kinds = Kinds(w.deps)
	w.added = map[string]schemas.Provenance{"ada": mail}
	app := SealTOTP(labelled{}, key, "ada")
	app.CreatedAt, app.AddedBy = noon.Add(-time.Hour), mail
	w.factors = &factors{apps: map[string]*schemas.TOTP{"ada": &app}}
	tests := map[string]struct {
		kind, with, input, value string
		before                   func(*engine.Visit)
		guarantees               schemas.Guarantees
		want                     string // methods and class; "" if it is refused
	}{
		"a password":                            {"password-authenticate", `{}`, "password", "analytical engine", nil, schemas.Guarantees{}, "limited " + schemas.ACRVouched},
		"a password where less is enough":       {"password-authenticate", `{}`, "password", "analytical engine", nil, schemas.Guarantees{ACR: schemas.ACRVouched}, "limited " + schemas.ACRVouched},
		"a password where a password is needed": {"password-authenticate", `{}`, "password", "analytical engine", nil, schemas.Guarantees{ACR: schemas.ACRPassword}, ""},
		"a password where its method is needed": {"password-authenticate", `{}`, "password", "analytical engine", nil, schemas.Guarantees{AMR: []string{"pwd"}}, ""},
		"an app after a passkey":                {"totp", `{}`, "otp", code, authenticated("phr", "pop"), schemas.Guarantees{ACR: "phr"}, "pop limited phr"},
		"an app after a password":               {"totp", `{}`, "otp", code, authenticated(schemas.ACRPassword, "pwd"), schemas.Guarantees{}, "pwd limited " + schemas.ACRPassword},
		"an app that should be a second factor": {"totp", `{}`, "otp", code, authenticated(schemas.ACRPassword, "pwd"), schemas.Guarantees{ACR: schemas.ACRMultiFactor}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			v := visit(known("ada"), inputs(test.input, test.value))
			if test.before != nil {
				test.before(v)
			}
			v.Guarantees = test.guarantees
			d := run(t, w.make(t, test.kind, test.with, nil), v)
			if test.want == "" {
				if left(t, d, "failure"); d.Notice == nil || d.Notice.Code != schemas.CodeCredentialLimited || d.Reason != schemas.CodeCredentialLimited {
					t.Errorf("%+v with %s", d, actions(d))
				}
				return
			}
			left(t, d, "success")
			if got := proven(v, d); got != test.want || !d.Limited {
				t.Errorf("got %q, limited %t, want %q", got, d.Limited, test.want)
			}
		})
	}
}

// A credential records the sign-in that added it, unless the run creates the user or a waiver
// accepts it.
func TestProvenanceOfNewCredentials(t *testing.T) {
	byMail := authenticated(schemas.ACRVouched, schemas.AMREmail)
	isNew := func(v *engine.Visit) { v.Facts = engine.NewFacts(engine.New) }
	for name, test := range map[string]struct {
		unlimited bool
		visit     *engine.Visit
		want      string
	}{
		"after a mailed code":       {false, visit(byMail), schemas.ACRVouched},
		"with a waiver":             {true, visit(byMail), ""},
		"of a new user":             {false, visit(byMail, isNew), ""},
		"where takeover was waived": {false, visit(), ""},
	} {
		t.Run(name, func(t *testing.T) {
			got := node{unlimited: test.unlimited}.provenance(test.visit)
			if got.ACR != test.want || !got.IsZero() && !slices.Equal(got.Methods, []string{schemas.AMREmail}) {
				t.Errorf("got %+v, want the class %q", got, test.want)
			}
		})
	}
}
