// Package stacks has code that connects an application, for each common stack. `postern app create
// --stack` and the console show it, and tests compare it with the pages in docs/connect and with the
// examples.
//
// snippets/NAME.txt has the files of a stack, each after a line `-- PATH --`. Names between double
// underscores, such as __ISSUER__, stand for the values of an application; [Client] documents them.
// The console reads the same files: server/console/web/src/connect/stacks.ts must agree with this
// package.
package stacks

import (
	"embed"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

//go:embed stacks.json snippets
var files embed.FS

// Stack is a stack that applications are written with.
type Stack struct {
	Name  string `json:"name"`  // a word for the command line
	Title string `json:"title"` // for users
	// Type is the type of `postern app create`: web, spa, native or service; or flow, an application
	// without an OAuth client.
	Type string `json:"type"`
	// Page is the page that describes the code, below the root of the repository.
	Page string `json:"page"`
	// Redirect is the usual redirect URI during development.
	Redirect string `json:"redirect"`
	// PostLogout is the path of the usual post-logout URI, or "same" for the redirect URI itself. If it
	// is empty, the code needs no post-logout URI.
	PostLogout string `json:"postLogout"`
	// Scopes are those that the code requests besides openid, profile and email.
	Scopes []string `json:"scopes"`
	// Claims are the claims that the code reads besides those of the scopes, as members of an application.
	Claims []json.RawMessage `json:"claims"`
}

// All returns all stacks, in the order in which lists show them.
func All() []Stack {
	text, err := files.ReadFile("stacks.json")
	if err != nil {
		panic(err) // it is part of the program
	}
	var all []Stack
	if err := json.Unmarshal(text, &all); err != nil {
		panic(err)
	}
	return all
}

// Find returns the stack with a name.
func Find(name string) (Stack, bool) {
	for _, s := range All() {
		if s.Name == name {
			return s, true
		}
	}
	return Stack{}, false
}

// PostLogoutURI returns the usual post-logout URI of an application with this redirect URI; "" if the
// stack needs none.
func (s Stack) PostLogoutURI(redirectURI string) string {
	u, err := url.Parse(redirectURI)
	switch {
	case err != nil || s.PostLogout == "":
		return ""
	case s.PostLogout == "same":
		return redirectURI
	}
	return u.ResolveReference(&url.URL{Path: s.PostLogout}).String()
}

// Client is an application as its code needs it.
type Client struct {
	Issuer        string   // __ISSUER__
	ApplicationID string   // __APPLICATION_ID__
	ClientID      string   // __CLIENT_ID__
	RedirectURI   string   // __REDIRECT_URI__ and its parts
	PostLogoutURI string   // __POST_LOGOUT_URI__
	Scopes        []string // __SCOPES__ separated by spaces, __SCOPES_COMMAS__
}

// File is a part of a snippet.
type File struct{ Path, Text string }

var (
	header      = regexp.MustCompile(`(?m)^-- (.+) --\n`)
	placeholder = regexp.MustCompile(`__[A-Z]+(_[A-Z]+)*__`)
	unsafeRunes = regexp.MustCompile(`[^A-Za-z0-9\-._~:/?@&()*+,;=%\[\] ]`)
)

// Snippet returns the code of a stack with the values of a client. Secrets come from the environment
// variable CLIENT_SECRET. Absent redirect and post-logout URIs are those that are usual.
func (s Stack) Snippet(c Client) ([]File, error) {
	text, err := files.ReadFile("snippets/" + s.Name + ".txt")
	if err != nil {
		return nil, fmt.Errorf("there is no snippet for the stack %q", s.Name)
	}
	values := s.values(c)
	filled := placeholder.ReplaceAllStringFunc(string(text), func(name string) string {
		if value, found := values[strings.Trim(name, "_")]; found {
			return escape(value)
		}
		return name
	})
	var parts []File
	for _, at := range header.FindAllStringSubmatchIndex(filled, -1) {
		rest := filled[at[1]:]
		if next := header.FindStringIndex(rest); next != nil {
			rest = rest[:next[0]]
		}
		parts = append(parts, File{Path: filled[at[2]:at[3]], Text: rest})
	}
	return parts, nil
}

// escape percent-encodes the characters with which a value could end a string of a language or start
// an expression: anyone can choose the redirect URIs of self-registered clients.
func escape(value string) string {
	return unsafeRunes.ReplaceAllStringFunc(value, url.QueryEscape)
}

// values returns what replaces the placeholders.
func (s Stack) values(c Client) map[string]string {
	redirectURI := c.RedirectURI
	if redirectURI == "" {
		redirectURI = s.Redirect
	}
	postLogoutURI := c.PostLogoutURI
	if postLogoutURI == "" {
		postLogoutURI = s.PostLogoutURI(redirectURI)
	}
	redirect, postLogout := parse(redirectURI), parse(postLogoutURI)
	return map[string]string{
		"ISSUER": c.Issuer, "APPLICATION_ID": c.ApplicationID, "CLIENT_ID": c.ClientID,
		"SCOPES": strings.Join(c.Scopes, " "), "SCOPES_COMMAS": strings.Join(c.Scopes, ", "),
		"REDIRECT_URI": redirectURI, "REDIRECT_PATH": path(redirect), "REDIRECT_SCHEME": redirect.Scheme,
		"BASE_URL": redirect.Scheme + "://" + redirect.Host, "IS_HTTPS": strconv.FormatBool(redirect.Scheme == "https"),
		"PORT":            s.port(redirect),
		"POST_LOGOUT_URI": postLogoutURI, "POST_LOGOUT_PATH": path(postLogout), "POST_LOGOUT_URI_ENCODED": url.QueryEscape(postLogoutURI),
	}
}

// port returns the port on which the application listens: that of a redirect URI on this machine, or
// the usual one behind a proxy.
func (s Stack) port(redirect *url.URL) string {
	if host := redirect.Hostname(); redirect.Port() != "" && (host == "localhost" || host == "127.0.0.1" || host == "::1") {
		return redirect.Port()
	}
	return parse(s.Redirect).Port()
}

// parse returns the parts of a URI; none if it is not a URI.
func parse(uri string) *url.URL {
	if u, err := url.Parse(uri); err == nil {
		return u
	}
	return &url.URL{}
}

func path(u *url.URL) string {
	if escaped := u.EscapedPath(); escaped != "" {
		return escaped
	}
	return "/"
}
