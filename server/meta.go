package server

import (
	"context"
	"fmt"
	"net/http"

	"golang.org/x/text/language"

	"github.com/postern-id/postern/internal/document"
	"github.com/postern-id/postern/internal/translations"
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
	Design metaDesign    `json:"design"`
	I18n   i18n          `json:"i18n"`
}

type metaApplication struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	LogoURL   string `json:"logoUrl,omitempty"`
	URL       string `json:"url,omitempty"`
	TosURI    string `json:"tosUri,omitempty"`
	PolicyURI string `json:"policyUri,omitempty"`
	// StartURL is where the user starts a sign-in at the application again.
	StartURL string `json:"startUrl,omitempty"`
	// Unverified states that the application registered itself: its name and addresses are
	// self-asserted.
	Unverified bool `json:"unverified,omitempty"`
}

// metaDesign is the appearance from the application's customizations.
type metaDesign struct {
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
	if problems := checkMeta(query.Get("type"), query.Get("language")); len(problems) > 0 {
		return schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the query is invalid: %s", problems[0]).WithProblems(problems)
	}
	app, key := &schemas.Application{}, metaKey{language: s.Languages.Match(query.Get("language")), brand: s.Service}
	if id := query.Get("id"); id != "" {
		var err error
		if app, err = s.Runs.Applications.Application(r.Context(), id); err != nil {
			return requestFault(err)
		}
		key.application, key.updated = app.ID, app.UpdatedAt.UnixMicro()
		if key.brand, err = s.brand(r.Context(), app); err != nil {
			return err
		}
	}
	d, found := s.metas.Find(key)
	if !found {
		m := s.metaOf(app, key)
		if s.OAuth != nil && m.Application != nil {
			var err error
			if m.Application.StartURL, err = s.OAuth.StartURL(r.Context(), app); err != nil {
				return err
			}
		}
		text, err := encodeJSON(m)
		if err != nil {
			return fmt.Errorf("write the reply: %w", err)
		}
		d = document.New(jsonType, text)
		s.metas.Put(key, d)
	}
	d.Serve(w, r, "no-cache") // the data is public: clients can cache it and revalidate it
	return nil
}

// metaKey identifies a text of GET /flow/meta.
type metaKey struct {
	application string // its id; "" for none
	updated     int64  // its last change, in microseconds
	language    *translations.Language
	brand       schemas.Brand
}

// maxMetas bounds the texts of GET /flow/meta that are held, with their compressed forms.
const maxMetas = 128

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

func checkMeta(kind, tag string) []schemas.Problem {
	var problems []schemas.Problem
	if kind != "" && kind != appMeta {
		problems = append(problems, schemas.Problem{Path: "type", Message: fmt.Sprintf("expected %s, got %.64q", appMeta, kind)})
	}
	if tag == "" {
		return problems
	}
	if _, err := language.Parse(tag); err != nil {
		problems = append(problems, schemas.Problem{Path: "language", Message: fmt.Sprintf("expected a language tag such as en-US (BCP 47), got %.64q", tag)})
	}
	return problems
}

// metaOf describes an application; one without an id is none.
func (s *server) metaOf(app *schemas.Application, key metaKey) meta {
	english := language.AmericanEnglish.String()
	translations := map[string]map[string]string{}
	if texts := key.language.Flows; len(texts) > 0 {
		translations["gate"] = texts
	}
	m := meta{
		IsRecoveryFlowEnabled:     app.RecoveryFlowID != "",
		IsAddressFlowEnabled:      app.AddressFlowID != "" && s.Directory != nil && s.Directory.SendsMail,
		IsRegistrationFlowEnabled: app.IsRegistrationFlowEnabled && app.RegistrationFlowID != "",
		Brand:                     key.brand,
		Design:                    metaDesign{Theme: schemas.SafeTheme(customization(app, "theme")), Layout: customization(app, "layout")},
		I18n:                      i18n{Language: english, Languages: []string{english}, Translations: translations},
	}
	if app.ID == "" {
		return m
	}
	m.Application = &metaApplication{
		ID: app.ID, Name: app.Name, LogoURL: app.LogoURL, URL: app.URL, TosURI: app.TosURI, PolicyURI: app.PolicyURI,
	}
	if !app.IsTrusted() { // the logo of another company would deceive the user
		m.Application.LogoURL, m.Application.Unverified = "", true
	}
	return m
}

// customization returns a part of the customizations, {} if there is none.
func customization(app *schemas.Application, part string) map[string]any {
	if m, ok := app.Customizations[part].(map[string]any); ok {
		return m
	}
	return map[string]any{}
}
