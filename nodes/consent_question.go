package nodes

import (
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/claims"
	"github.com/postern-id/postern/schemas"
)

// question returns what there is to agree to, with texts for users.
func (c *consent) question(ctx context.Context, v *engine.Visit, due *dueConsent) (*schemas.ConsentQuestion, error) {
	words, err := c.deps.Directory.ScopeNames(ctx, due.asked)
	if err != nil {
		return nil, err
	}
	of, err := c.deps.claimSubject(ctx, v, due.user, due.claims, due.asked, claims.Documents()...)
	if err != nil {
		return nil, err
	}
	scopes := make([]schemas.ConsentScope, len(due.asked))
	for i, scope := range due.asked {
		scopes[i] = schemas.ConsentScope{Scope: scope, Text: words[scope], Claims: due.claims.Describe(scope, of), Releases: due.claims.Released(scope)}
	}
	return &schemas.ConsentQuestion{Client: client(v.Application, due.request), Account: due.user.AccountName(), Scopes: scopes}, nil
}

// wasShown reports whether the displayed question covered everything that there is to agree to now.
// The client may have changed its name since, or the user may have got more permissions.
func wasShown(v *engine.Visit, now *schemas.ConsentQuestion) bool {
	var then schemas.ConsentQuestion
	return json.Unmarshal(v.NodeState, &then) == nil && then.Covers(now)
}

// ask shows the question. It is also in the data of the reply, for pages with their own layout.
func (c *consent) ask(q *schemas.ConsentQuestion) *engine.Decision {
	f := form{
		title: cmp.Or(c.Title, "Allow access?"), shown: c.describe(q),
		buttons: []button{
			{ref: allowAction, label: cmp.Or(c.Allow, "Allow")},
			{ref: denyAction, label: cmp.Or(c.Deny, "Do not allow")},
		},
	}
	if c.mayBeOtherUser() {
		f.buttons = append(f.buttons, button{ref: otherOutcome, label: "Not you?", variant: "TEXT"})
	}
	ask := f.ask()
	ask.Data = map[string]string{schemas.ConsentData: string(must(json.Marshal(q)))}
	return &engine.Decision{Ask: ask, NodeState: must(json.Marshal(withoutValues(q)))}
}

// withoutValues returns a question without the values of claims, which may change before the answer.
func withoutValues(q *schemas.ConsentQuestion) *schemas.ConsentQuestion {
	bare := *q
	bare.Scopes = slices.Clone(q.Scopes)
	for i := range bare.Scopes {
		bare.Scopes[i].Claims = nil
	}
	return &bare
}

// describeClaims shows the claims of a scope: those that the user has with their values, and the names of the others.
func describeClaims(s *schemas.ConsentScope) []schemas.Component {
	list := schemas.Component{ID: "claims_" + s.Scope, Type: schemas.StackComponent, Variant: "CLAIMS"}
	absent := schemas.Component{ID: "absent_" + s.Scope, Type: schemas.StackComponent, Variant: "ABSENT", Components: []schemas.Component{text("absent", "If you add them:", "CAPTION")}}
	rows := map[string]int{} // by label
	for _, c := range s.Claims {
		if c.Value == "" {
			absent.Components = append(absent.Components, text("claim_"+c.Name, c.Text, "LABEL"))
			continue
		}
		variant := "VALUE"
		if c.Boolean {
			variant = "BODY_1"
		}
		value := text("value_"+c.Name, c.Value, variant)
		if i, shown := rows[c.Text]; shown {
			list.Components[i].Components = appendValue(list.Components[i].Components, value)
			continue
		}
		rows[c.Text] = len(list.Components)
		list.Components = append(list.Components, schemas.Component{ID: "claim_" + c.Name, Type: schemas.StackComponent, Variant: "CLAIM",
			Components: []schemas.Component{text("label_"+c.Name, c.Text, "LABEL"), value}})
	}
	if len(absent.Components) > 1 {
		list.Components = append(list.Components, absent)
	}
	if len(list.Components) == 0 {
		return nil
	}
	return []schemas.Component{list}
}

// appendValue appends a value that is not shown yet.
func appendValue(row []schemas.Component, value schemas.Component) []schemas.Component {
	if slices.ContainsFunc(row, func(shown schemas.Component) bool { return shown.Label == value.Label }) {
		return row
	}
	return append(row, value)
}

// describe shows the client, the user and the scopes.
func (c *consent) describe(q *schemas.ConsentQuestion) []schemas.Component {
	who := schemas.Component{ID: "client", Type: schemas.StackComponent, Variant: "CLIENT",
		Components: []schemas.Component{text("client_name", q.Client.Name, "STRONG")}}
	if domain := q.Client.Domain; domain != "" {
		if to := q.Client.RedirectDomain; to != "" {
			domain += " → " + to
		}
		who.Components = append(who.Components, text("client_domain", domain, "CAPTION"))
	}
	if q.Client.Unverified {
		who.Components = append(who.Components, text("client_unverified", "Not verified", "BADGE"))
	}
	list := []schemas.Component{who}
	if q.Account != "" {
		list = append(list, text("account", q.Account, "ACCOUNT"))
	}
	if q.Client.Unverified && slices.ContainsFunc(q.Scopes, func(s schemas.ConsentScope) bool { return schemas.IsManagementScope(s.Scope) }) {
		list = append(list, text("approval", "This app is not verified. If you allow this, it can act as you here.", "BODY_1"))
	}
	if c.Text != "" {
		list = append(list, text("text", c.Text, "BODY_1"))
	}
	what := schemas.Component{ID: "scopes", Type: schemas.StackComponent, Variant: "LIST"}
	for _, s := range q.Scopes {
		line := text("scope_"+s.Scope, s.Text, "ITEM")
		line.Ref = s.Scope
		what.Components = append(append(what.Components, line), describeClaims(&s)...)
	}
	return append(list, what)
}

// client describes the client. An untrusted client can claim any name. It cannot invent the host of
// its metadata document, if its client id is a URL, nor the host to which the answer goes. If they
// differ, both are shown: the first alone would look trustworthy on a host where anyone can publish
// files, or for a program on the user's device.
func client(app *schemas.Application, r *schemas.AuthRequest) schemas.ConsentClient {
	c := schemas.ConsentClient{
		Name: app.Name, Domain: domainOf(r.RedirectURI), Unverified: !app.IsTrusted(),
		URL: app.URL, PolicyURI: app.PolicyURI, TosURI: app.TosURI,
	}
	if u, err := url.Parse(r.ClientID); err == nil && u.Scheme == "https" && u.Host != "" && u.Hostname() != c.Domain {
		c.Domain, c.RedirectDomain = u.Hostname(), c.Domain
	}
	if app.IsTrusted() { // the logo of another company would deceive the user
		c.LogoURL = app.LogoURL
	}
	return c
}

// domainOf returns the host of a redirect URI, or a private-use scheme, which identifies the app.
func domainOf(redirect string) string {
	u, err := url.Parse(redirect)
	switch {
	case err != nil:
		return ""
	case u.Scheme != "https" && u.Scheme != "http":
		return u.Scheme + ":"
	}
	return u.Hostname()
}

// consentMissing records that the user could not be asked, or not with a use.
func consentMissing(v *engine.Visit, reason string, scopes []string) schemas.RecordEvent {
	r := consentEvent(v, "consent.missing", scopes)
	if r.Event.Detail == nil {
		r.Event.Detail = map[string]string{}
	}
	r.Event.Detail["reason"] = reason
	return r
}

// consentEvent records the user's decision.
func consentEvent(v *engine.Visit, action string, scopes []string) schemas.RecordEvent {
	var detail map[string]string
	if scopes != nil {
		detail = map[string]string{"scope": strings.Join(scopes, " ")}
	}
	return event(v, action, v.Subject.UserID, detail)
}
