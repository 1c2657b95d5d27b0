package gate

import (
	"bytes"
	"html/template"
	"net/http"
	"strings"

	"github.com/postern-id/postern/internal/document"
	"github.com/postern-id/postern/internal/translations"
)

// Options configures the pages.
type Options struct {
	// AccountApplicationID is the application of sign-ins for the account page. "" disables them.
	AccountApplicationID string
	// Languages are the languages of the pages; nil means the built-in ones.
	Languages *translations.Catalog
}

// root is the path of the pages.
const root = "/gate/"

// policy allows the pages' own scripts and styles, and requests to their own origin. Images and fonts
// can come from any https address: an administrator sets their addresses, and requests for them have
// no referrer. Forms are never submitted by the browser itself.
const policy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' https: data:; font-src 'self' https:; " +
	"frame-ancestors 'none'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"

// previewPolicy is the policy of the preview, the only page in frames: the console, which has the same
// origin, sends what it shows. It cannot send requests, so it has nothing to click for an attacker.
var previewPolicy = strings.NewReplacer("frame-ancestors 'none'", "frame-ancestors 'self'", "connect-src 'self'", "connect-src 'none'").Replace(policy)

// features restricts passkeys to the pages themselves and disables access to the device
// (Permissions Policy).
const features = "publickey-credentials-get=(self), publickey-credentials-create=(self), camera=(), microphone=(), geolocation=()"

// Cache lifetimes. A page is revalidated each time, with 304 if it is unchanged. A file's address
// changes with its content.
const (
	revalidate = "no-cache"
	forever    = "public, max-age=31536000, immutable"
)

// gate serves files that were prepared once; it has no other state.
type gate struct {
	Options
	version string
	shell   *template.Template
	pages   map[string]*document.Document // by the last part of the path
	files   map[string]*document.Document // by name
}

// New returns the handler of /gate and every path below it. Mount it without stripping a prefix.
func New(o Options) http.Handler {
	version, files := prepareFiles(o.Languages)
	g := &gate{Options: o, version: version, files: files, pages: map[string]*document.Document{}}
	// web/ is part of the program, so an error is a bug.
	g.shell = template.Must(template.ParseFS(web, "web/"+shellFile))
	for _, name := range pageNames() {
		var text bytes.Buffer
		if err := g.shell.Execute(&text, g.page(name)); err != nil {
			panic(err)
		}
		g.pages[name] = document.New(htmlType, text.Bytes())
	}
	return g
}

// ServeHTTP answers GET and HEAD.
func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	guard(w.Header())
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "these pages support only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	path, below := strings.CutPrefix(r.URL.Path, root)
	switch {
	case !below:
		goTo(w, "gate/account")
	case path == "":
		goTo(w, "account")
	case path == preview:
		w.Header().Set("Content-Security-Policy", previewPolicy)
		g.pages[path].Serve(w, r, revalidate)
	case path == errorPage:
		g.serveFault(w, r, http.StatusBadRequest, g.page(path))
	case path == callback: // that address must not be cached
		g.pages[path].Serve(w, r, "no-store")
	case g.pages[path] != nil:
		g.pages[path].Serve(w, r, revalidate)
	case strings.HasPrefix(path, "files/"):
		g.serveFile(w, r, strings.TrimPrefix(path, "files/"))
	default:
		g.notFound(w, r)
	}
}

// goTo redirects to a relative address, because a proxy may change the name and path of the server.
func goTo(w http.ResponseWriter, relative string) {
	w.Header().Set("Location", relative)
	w.Header().Set("Cache-Control", revalidate)
	w.WriteHeader(http.StatusTemporaryRedirect)
}

// serveFile serves version/name. A page of another version, from before an update or from another
// instance, gets the current file, but cannot cache it under that address.
func (g *gate) serveFile(w http.ResponseWriter, r *http.Request, path string) {
	version, name, _ := strings.Cut(path, "/")
	file := g.files[name]
	switch {
	case file == nil:
		g.notFound(w, r)
	case version == g.version:
		file.Serve(w, r, forever)
	default:
		file.Serve(w, r, "no-store")
	}
}

// notFound replies with a page that loads its resources relative to its own address.
func (g *gate) notFound(w http.ResponseWriter, r *http.Request) {
	// The limit keeps an address with thousands of slashes from growing the page.
	depth := min(strings.Count(strings.TrimPrefix(r.URL.Path, root), "/"), 8)
	absent := g.page("absent")
	absent.Up = strings.Repeat("../", depth)
	g.serveFault(w, r, http.StatusNotFound, absent)
}

// serveFault replies with a page that shows a fault, under its status.
func (g *gate) serveFault(w http.ResponseWriter, r *http.Request, status int, shown page) {
	h := w.Header()
	h.Set("Content-Type", htmlType)
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_ = g.shell.Execute(w, shown) // fails only if the client has gone
	}
}

// guard sets the header fields of every reply, errors included. Cross-Origin-Opener-Policy is not
// among them: it would cut off applications that sign in through a pop-up from their window.
func guard(h http.Header) {
	h.Set("Content-Security-Policy", policy)
	h.Set("Permissions-Policy", features)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
}
