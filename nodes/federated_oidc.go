package nodes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/federation"
	"github.com/postern-id/postern/schemas"
)

// Signing in with another provider
//
// A statement of another provider about a user proves little: such a sign-in has the weakest class,
// whatever class was requested from the provider, and the method fed. The provider identifies the
// user with its own identifier (sub). An identity belongs to a user only through federated-link,
// never because of an equal email address or name: anyone can claim those at some provider.
//
// The answer arrives through the browser, so an attacker may have forged it:
//
//   - An attacker starts a run and lures another person to the provider: that person's browser has no
//     stored values for the state, and sends the answer nowhere.
//   - An attacker injects a code of their own into a user's browser: the state is not the one of this
//     run. If the client keeps the state to itself, the provider requires the verifier of the sign-in for
//     which it issued the code, and the ID token contains its nonce.
//   - An attacker sends the answer of one provider to the node of another: each node has its own state,
//     and the answer names its provider if the provider supports RFC 9207.
//   - An attacker replays an answer: the node drops its sign-in when the run leaves it, and of two
//     concurrent answers only one commits.

func federatedOIDCKind(d Deps) declared {
	return configured[federatedOIDC](d, engine.Kind{
		Name: "federated-oidc",
		Doc: "Signs in with an external OpenID provider, one of the identity providers of this server: redirects the browser to it and verifies its response. It " +
			"authenticates the user who has linked the identity. The run keeps an unlinked identity, which federated-link can link to a user that " +
			"the run creates or authenticates by other means.",
		Asks: true,
		Outcomes: []engine.Outcome{
			withProof(engine.On("success", engine.Effect{User: engine.NamesUser, Proves: engine.IdentityAt("")}, engine.Outcome{
				Doc:         "the identity is linked to a user, and to the run's user if the run has one",
				Establishes: []engine.Fact{engine.User, engine.Authenticated, engine.Findable},
			}), []string{schemas.AMRFederated}, schemas.ACRVouched),
			engine.On(unknownOutcome, engine.NoEffect(), engine.Outcome{
				Doc:         "the identity is not linked; the run keeps it",
				Establishes: []engine.Fact{engine.Federated},
			}),
			engine.On("failure", engine.NoEffect(), engine.Outcome{
				Optional: true,
				Doc:      "the user declined at the provider, the identity is linked to a user other than the run's, a required claim is missing, or the provider does not respond after a retry or responds incorrectly",
			}),
			alternativeOutcome(),
		},
	}, errorCodes{schemas.CodeFederationDeclined, schemas.CodeFederationFailed, schemas.CodeFederationUnavailable, schemas.CodeFederationRedirect, schemas.CodeProviderNotFound, schemas.CodeIdentityTaken, schemas.CodeCanceled},
		row{"success, unknown, failure (optional), its alternatives", "success: an authenticated user; unknown: an external identity that is not linked"})
}

const unknownOutcome = "unknown"

type federatedOIDC struct {
	node
	Provider     string            `json:"provider" max:"100" pattern:"^[a-z0-9]([a-z0-9_-]*[a-z0-9])?$" expect:"the handle of an identity provider: lower-case letters, digits, - and _" doc:"The handle of the identity provider."`
	Claims       map[string]string `json:"claims,omitempty" min:"1" max:"20" doc:"Inputs whose values are claims of an unlinked identity, such as email: email, for user-create. The provider asserts these claims: an email address may belong to another person. A missing or unsuitable claim clears its input." item.min:"1" item.max:"100" item.doc:"The name of a claim in the ID token." key.pattern:"^[A-Za-z_][A-Za-z0-9_.-]{0,63}$" key.expect:"a letter, then up to 63 letters, digits, dots, dashes or underscores"`
	Required     []string          `json:"required,omitempty" min:"1" unique:"true" doc:"The inputs whose claims are required: if one is missing, the outcome is failure. The others are not certain to have a value afterwards." item.min:"1" item.doc:"The identifier of one of the inputs in claims."`
	Prompt       []string          `json:"prompt,omitempty" min:"1" unique:"true" doc:"The prompts that the provider shows even to a user who is signed in there (prompt)." item.enum:"login,consent,select_account" item.doc:"A value of prompt."`
	ACRValues    []string          `json:"acrValues,omitempty" min:"1" unique:"true" doc:"Authentication classes to request from the provider (acr_values). The class that it returns has no effect here." item.pattern:"^[!-~]+$" item.expect:"a class without spaces" item.doc:"A class."`
	Title        string            `json:"title,omitempty" min:"1" doc:"The heading. Default: the name of the provider."`
	Text         string            `json:"text,omitempty" min:"1" default:"You sign in there and come back here." doc:"A paragraph below the heading. Default: 'You sign in there and come back here.'"`
	Label        string            `json:"label,omitempty" min:"1" default:"Continue" doc:"The label of the button that leads to the provider. Default: 'Continue'."`
	Alternatives alternatives      `json:"alternatives,omitempty"`

	leadsBack bool // the outcome failure has a target
}

// prepare declares the inputs that get values from claims.
func (f *federatedOIDC) prepare(c *engine.Config) (found []schemas.Problem) {
	f.leadsBack = c.Node.Next.To != "" || c.Node.Next.By[failureOutcome] != ""
	f.outcomes, found = f.Alternatives.addTo(f.outcomes, continueAction)
	f.outcomes[0] = f.outcomes[0].With(engine.Effect{User: engine.NamesUser, Proves: engine.IdentityAt(f.Provider)})
	f.collects = map[string]schemas.InputType{}
	inputs, unknown := slices.Sorted(maps.Keys(f.Claims)), &f.outcomes[1]
	unknown.Withdraws = inputs
	for _, identifier := range inputs {
		f.collects[identifier] = claimType(f.Claims[identifier])
	}
	for i, identifier := range f.Required {
		unknown.Establishes = append(unknown.Establishes, engine.InputFact(identifier))
		if f.Claims[identifier] == "" {
			found = append(found, problem(fmt.Sprintf("required[%d]", i), "%q is not an input of claims%s", identifier, schemas.Hint(identifier, inputs)))
		}
	}
	return found
}

// claimType returns the type of the input for a standard claim (OpenID Connect Core section 5.1).
func claimType(claim string) schemas.InputType {
	types := map[string]schemas.InputType{"email": schemas.EmailInput, "phone_number": schemas.PhoneInput, "birthdate": schemas.DateInput}
	return cmp.Or(types[claim], schemas.TextInput)
}

// ReadsClaims implements engine.ClaimReader.
func (f *federatedOIDC) ReadsClaims() map[string]string { return f.Claims }

// Waits reports that the node calls the provider for its metadata and tokens.
func (f *federatedOIDC) Waits() bool { return true }

// Execute sends the browser to the provider until it returns an answer. The action without an
// answer returns a new address.
func (f *federatedOIDC) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	if d := f.deps.leaveByAlternative(v, f.Alternatives); d != nil {
		return d, nil
	}
	if v.Answer != nil && v.Answer.Action == failureOutcome {
		return engine.LeaveBy(failureOutcome), nil
	}
	p, err := f.deps.Directory.IdentityProvider(ctx, f.Provider)
	switch {
	case schemas.HasCode(err, schemas.CodeProviderNotFound):
		return f.askAgain(v, &schemas.IdentityProvider{Handle: f.Provider}, &federation.Error{
			Check: federation.CheckSettings, Reason: "there is no identity provider with this handle", Err: err,
		}), nil
	case err != nil:
		return nil, err
	case v.NodeState == nil || !isProviderAnswer(v.Answer):
		return f.begin(ctx, v, p)
	}
	return f.finish(ctx, v, p)
}

// The inputs of an answer: RFC 6749 section 4.1.2, RFC 9207.
const (
	authorizationCodeInput = "code"
	stateInput             = "state"
	issuerInput            = "iss"
	errorInput             = "error"
)

const continueAction = "continue"

// isProviderAnswer reports whether an answer comes from a provider.
func isProviderAnswer(a *engine.Answer) bool {
	return a != nil && (a.Inputs[authorizationCodeInput] != "" || a.Inputs[errorInput] != "")
}

// begin sends the browser to the provider. If the provider does not respond, the user first sees an
// error and can try again; the second time the outcome is failure.
func (f *federatedOIDC) begin(ctx context.Context, v *engine.Visit, p *schemas.IdentityProvider) (*engine.Decision, error) {
	uri, own, err := f.deps.redirectURI(ctx, v)
	if err != nil {
		return nil, err
	}
	asked, err := f.deps.Federation.Begin(ctx, p, federation.Request{
		RedirectURI: uri, Opened: !own,
		LoginHint: cmp.Or(v.LoginHint, v.Subject.Name, v.Inputs[v.Subject.Input]), UILocales: v.Request.Language,
		Prompt: f.prompt(v.Login), ACRValues: f.ACRValues, MaxAge: v.Login.MaxAge, Now: v.Now,
	})
	if fault, ok := errors.AsType[*federation.Error](err); ok {
		if v.Answer == nil {
			return f.askAgain(v, p, fault), nil
		}
		return f.refused(v, p, fault), nil
	}
	if err != nil {
		return nil, err
	}
	d := &engine.Decision{Ask: f.form(p).ask(), NodeState: asked.State}
	d.Ask.RedirectURL, d.Ask.Implicit = asked.URL, true
	return d, nil
}

// prompt returns the prompt values for the provider: those of the flow, and those that the client
// requested for this sign-in, so that the provider's own session does not bypass them.
func (f *federatedOIDC) prompt(login schemas.LoginRules) []string {
	prompt := slices.Clone(f.Prompt)
	for _, value := range []string{"login", "select_account"} {
		if slices.Contains(login.Prompt, value) && !slices.Contains(prompt, value) {
			prompt = append(prompt, value)
		}
	}
	return prompt
}

func (f *federatedOIDC) form(p *schemas.IdentityProvider) form {
	buttons := append([]button{{ref: continueAction, label: cmp.Or(f.Label, "Continue")}}, f.Alternatives.buttons()...)
	return form{
		title: cmp.Or(f.Title, p.Name, p.Handle),
		text:  cmp.Or(f.Text, "You sign in there and come back here."),
		fields: slices.Concat(hiddenFields(false, authorizationCodeInput), hiddenFields(true, stateInput),
			hiddenFields(false, issuerInput, errorInput)),
		buttons: buttons,
	}
}

// askAgain shows the step without an address: the button tries again, and another one leaves by
// failure if it has a target.
func (f *federatedOIDC) askAgain(v *engine.Visit, p *schemas.IdentityProvider, fault *federation.Error) *engine.Decision {
	d := f.refused(v, p, fault)
	question := f.form(p)
	question.fields = nil
	if f.leadsBack {
		question.buttons = append(question.buttons, button{ref: failureOutcome, label: "Back", event: schemas.TriggerEvent})
	}
	d.Outcome, d.Ask, d.Failed = "", question.ask(), false
	return d
}
