// Package react shows how a React app signs users in with Postern: files of an app that
// compile, run and are tested, and instructions for them.
//
// There are two modes. In Redirect (Mode 1) the app sends users to Postern's page and gets
// tokens by the authorization code flow with PKCE. In SelfHosted (Mode 2) the app renders
// sign-in and sign-up itself, and the SDK calls POST /flow/execute. Both use the published
// @thunderid/react.
package react

import (
	"embed"
	"encoding/json"
	"net/url"
	"path"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// The modes.
const (
	Redirect   = "redirect"
	SelfHosted = "self-hosted"
)

// Placeholders that a developer replaces with the values of the application; Instructions
// explains where to find them.
const (
	ClientIDPlaceholder      = "YOUR_CLIENT_ID"
	ApplicationIDPlaceholder = "YOUR_APPLICATION_ID"
)

// The texts that Integrate replaces in the files. With the address and the ids of the application
// that "postern serve --try" creates, the example runs as it is.
const (
	exampleService       = "http://localhost:8090"
	exampleClientID      = "EXAMPLE_REACT"
	exampleApplicationID = "01900000-0000-7000-8000-000000000005"
	packagesPlaceholder  = "PACKAGES"
)

// Integration is what a developer or an assistant needs to add sign-in to a React app.
type Integration struct {
	Instructions string    `json:"instructions"` // Markdown
	Snippets     []Snippet `json:"code_snippets"`
}

// Snippet is one file of the app.
type Snippet struct {
	Mode        string `json:"mode"`        // Redirect or SelfHosted; each is complete without the other
	File        string `json:"file"`        // path in the app's source folder, such as App.tsx
	Language    string `json:"language"`    // tsx or typescript
	Description string `json:"description"` // purpose, in a sentence
	Code        string `json:"code"`
}

//go:embed instructions.md package.json redirect self-hosted
var files embed.FS

// Integrate returns the integration for the Postern at a base URL, which is its
// server.public_url. The URL and the placeholders replace those of the example in all files. An invalid URL is an
// error of class Invalid.
func Integrate(baseURL string) (*Integration, error) {
	base, err := service(baseURL)
	if err != nil {
		return nil, err
	}
	fill := strings.NewReplacer(exampleService, base, packagesPlaceholder, packages(),
		exampleClientID, ClientIDPlaceholder, exampleApplicationID, ApplicationIDPlaceholder)
	in := &Integration{Instructions: fill.Replace(read("instructions.md"))}
	for _, s := range catalog() {
		s.Code = fill.Replace(read(path.Join(s.Mode, s.File)))
		s.Language = languages()[path.Ext(s.File)]
		in.Snippets = append(in.Snippets, s)
	}
	return in, nil
}

// catalog lists the files in reading order.
func catalog() []Snippet {
	return []Snippet{
		{Mode: Redirect, File: "postern.ts", Description: "Where Postern is, and what it calls this application: fill it in."},
		{Mode: Redirect, File: "main.tsx", Description: "Puts the SDK's provider around the app."},
		{Mode: Redirect, File: "App.tsx", Description: "Shows who is signed in, or the button that leads to Postern's sign-in page."},
		{Mode: Redirect, File: "useSignOut.ts", Description: "Signs out of the app and of Postern."},
		{Mode: SelfHosted, File: "postern.ts", Description: "Where Postern is, and what it calls this application: fill it in."},
		{Mode: SelfHosted, File: "main.tsx", Description: "Puts the SDK's provider around the app."},
		{Mode: SelfHosted, File: "App.tsx", Description: "Shows who is signed in, or the forms to sign in and up."},
		{Mode: SelfHosted, File: "SignInForm.tsx", Description: "Signs in by the steps of the application's flow."},
		{Mode: SelfHosted, File: "SignUpForm.tsx", Description: "Signs up by the steps of the application's flow."},
		{Mode: SelfHosted, File: "useRetry.ts", Description: "Lets people try again when a passkey prompt was canceled."},
	}
}

func languages() map[string]string {
	return map[string]string{".ts": "typescript", ".tsx": "tsx"}
}

// service checks a base URL, which must be safe in string literals.
func service(baseURL string) (string, error) {
	u, err := url.Parse(baseURL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		strings.ContainsAny(baseURL, "\"'`\\<>$ ") {
		return "", schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest,
			"expected the address of a Postern, such as https://id.example.org, got %.128q", baseURL)
	}
	return strings.TrimRight(baseURL, "/"), nil
}

// packages are the SDK's packages in the versions that all this is tested with.
func packages() string {
	var manifest struct {
		Dependencies map[string]string `json:"dependencies"`
	}
	if err := json.Unmarshal([]byte(read("package.json")), &manifest); err != nil {
		panic(err) // the file is ours
	}
	const react, browser = "@thunderid/react", "@thunderid/browser"
	return react + "@" + manifest.Dependencies[react] + " " + browser + "@" + manifest.Dependencies[browser]
}

// read returns a file of the package. All of them are there, or it would not
// have been built.
func read(name string) string {
	text, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return string(text)
}
