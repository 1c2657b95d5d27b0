package server

import (
	"context"
	"crypto/sha256"
	"fmt"
	"net/http"

	"golang.org/x/text/language"

	"github.com/postern-id/postern/internal/document"
	"github.com/postern-id/postern/schemas"
)

// appMeta is the only type of GET /flow/meta.
const appMeta = "APP"

// meta is the body of GET /flow/meta: the data that a sign-in page shows before it starts a run.
// All of it is public. Without an application it contains only the languages.
type meta struct {
	IsRecoveryFlowEnabled     bool             `json:"isRecoveryFlowEnabled,omitempty"`
	IsAddressFlowEnabled      bool             `json:"isAddressFlowEnabled,omitempty"`
	IsRegistrationFlowEnabled bool             `json:"isRegistrationFlowEnabled"`
	Application               *metaApplication `json:"application,omitempty"`
	// Brand is the name and logo of the operator on the hosted pages: those of the organization
	// unit of a trusted application, or of the service.
	Brand  schemas.Brand `json:"brand"`
	Design design        `json:"design"`
	I18n   i18n          `json:"i18n"`
}

type metaApplication struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	LogoURL   string `json:"logoUrl,omitempty"`
	URL       string `json:"url,omitempty"`
	TosURI    string `json:"tosUri,omitempty"`
	PolicyURI string `json:"policyUri,omitempty"`
	// Unverified states that the application registered itself: its name and addresses are
	// self-asserted.
	Unverified bool `json:"unverified,omitempty"`
}

// design is the appearance from the application's customizations.
type design struct {
	Theme  map[string]any `json:"theme"`
	Layout map[string]any `json:"layout"`
}

// i18n contains the language of the texts of steps, and the available ones. Translations replace a
// page's own texts: namespace → key → text. The namespace "gate" translates the texts of the
// built-in flows, with the English text as key.
type i18n struct {
	Language     string                       `json:"language"`
	Languages    []string                     `json:"languages"`
	Translations map[string]map[string]string `json:"translations"`
}

// flowMeta handles GET /flow/meta?id={applicationId}&type=APP&language={BCP 47 tag}. All parameters
// are optional: a client that uses the hosted pages sends the request before it knows an
// application.
func (s *server) flowMeta(w http.ResponseWriter, r *http.Request) error {
	query := r.URL.Query()
	id := query.Get("id")
	if problems := checkMeta(query.Get("type"), query.Get("language")); len(problems) > 0 {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the query is invalid: %s", problems[0]).WithProblems(problems)
	}
	if id == "" {
		m := s.metaOf(&schemas.Application{}, query.Get("language"))
		m.Brand = s.Service
		return s.writeMeta(w, r, m)
	}
	app, err := s.Runs.Applications.Application(r.Context(), id)
	if err != nil {
		return requestFault(err)
	}
	m := s.metaOf(app, query.Get("language"))
	m.IsAddressFlowEnabled = app.AddressFlowID != "" && s.Directory != nil && s.Directory.SendsMail
	m.Application = &metaApplication{
		ID: app.ID, Name: app.Name, LogoURL: app.LogoURL, URL: app.URL, TosURI: app.TosURI, PolicyURI: app.PolicyURI,
	}
	if !app.IsTrusted() { // the logo of another company would deceive the user
		m.Application.LogoURL, m.Application.Unverified = "", true
	}
	if m.Brand, err = s.brand(r.Context(), app); err != nil {
		return err
	}
	return s.writeMeta(w, r, m)
}

// brand returns the name and logo for the pages of an application. An untrusted one gets those of
// the service: it must not show the logo of an organization.
func (s *server) brand(ctx context.Context, app *schemas.Application) (schemas.Brand, error) {
	if s.Brand == nil || !app.IsTrusted() {
		return s.Service, nil
	}
	brand, err := s.Brand(ctx, app.OUID)
	if err != nil || brand == nil {
		return s.Service, err
	}
	return *brand, nil
}

// maxMetas bounds the texts of GET /flow/meta that are held, with their compressed forms.
const maxMetas = 128

// writeMeta writes public data. Clients can cache it and revalidate it.
func (s *server) writeMeta(w http.ResponseWriter, r *http.Request, m meta) error {
	text, err := encodeJSON(m)
	if err != nil {
		return fmt.Errorf("write the reply: %w", err)
	}
	key := sha256.Sum256(text)
	d, found := s.metas.Find(key)
	if !found {
		d = document.New(jsonType, text)
		s.metas.Put(key, d) // compressing it takes longer than all else
	}
	d.Serve(w, r, "no-cache")
	return nil
}

func checkMeta(kind, tag string) []schemas.Problem {
	var problems []schemas.Problem
	if kind != "" && kind != appMeta {
		problems = append(problems, schemas.Problem{Path: "type", Message: fmt.Sprintf("expected %s, got %.64q", appMeta, kind)})
	}
	if _, err := language.Parse(tag); tag != "" && err != nil {
		problems = append(problems, schemas.Problem{Path: "language", Message: fmt.Sprintf("expected a language tag such as en-US (BCP 47), got %.64q", tag)})
	}
	return problems
}

// metaOf describes an application without its identity.
func (s *server) metaOf(app *schemas.Application, tag string) meta {
	english := language.AmericanEnglish.String()
	translations := map[string]map[string]string{}
	if texts := s.Languages.Match(tag).Flows; len(texts) > 0 {
		translations["gate"] = texts
	}
	return meta{
		IsRecoveryFlowEnabled:     app.RecoveryFlowID != "",
		IsRegistrationFlowEnabled: app.IsRegistrationFlowEnabled && app.RegistrationFlowID != "",
		Design:                    design{Theme: customization(app, "theme"), Layout: customization(app, "layout")},
		I18n:                      i18n{Language: english, Languages: []string{english}, Translations: translations},
	}
}

// customization returns a part of the customizations, {} if there is none.
func customization(app *schemas.Application, part string) map[string]any {
	if m, ok := app.Customizations[part].(map[string]any); ok {
		return m
	}
	return map[string]any{}
}
