// Package console serves the console: a single-page application with which administrators manage the
// service. It signs in as the client CONSOLE and uses only the public API.
//
// Its source is in web/. The built files in dist/ are part of the repository, so that building
// Postern takes only Go; `make console` builds them again.
package console

import (
	"bytes"
	"crypto/rand"
	"embed"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"sync"

	"github.com/postern-id/postern/internal/document"
)

//go:embed dist
var dist embed.FS

// forever is the Cache-Control of the files that are named by their contents.
const forever = "public, max-age=31536000, immutable"

// pagePolicy is the Content-Security-Policy of the page; NONCE is replaced. The editor and the
// components add style elements, which carry the nonce; the graph sets style attributes. The policy
// "checker" of Trusted Types allows only the address of the worker.
const pagePolicy = "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-NONCE'; style-src-attr 'unsafe-inline'; img-src 'self' data:; font-src 'self'; connect-src 'self'; " +
	"worker-src 'self'; frame-src 'self'; base-uri 'self'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types checker"

// console reads a file when it is first requested: the files are megabytes, which most servers never
// send.
type console struct {
	page    func() []byte // without the address of the checker
	checker func() *checker
	*embedded
}

// embedded are the files of the console.
type embedded struct {
	files        map[string]func() *document.Document // by path below dist
	builtChecker func() *checker
}

// listEmbedded lists the files once for all consoles of the process, which share what they read.
var listEmbedded = sync.OnceValue(func() *embedded {
	e := &embedded{files: map[string]func() *document.Document{}, builtChecker: sync.OnceValue(builtChecker)}
	err := fs.WalkDir(dist, "dist", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			e.files[strings.TrimPrefix(name, "dist/")] = sync.OnceValue(func() *document.Document {
				return document.New(mediaType(name), readDist(name))
			})
		}
		return err
	})
	if err != nil {
		panic(err) // the files are embedded
	}
	return e
})

// mediaType returns the type of a file. Not every system knows that of fonts.
func mediaType(name string) string {
	if path.Ext(name) == ".woff2" {
		return "font/woff2"
	}
	return mime.TypeByExtension(path.Ext(name))
}

// Options configure New.
type Options struct {
	// PublicURL is that of the server, which can be a part of a site.
	PublicURL string
	// Checker is a folder with the flow checker for the browser that will exist when it is built; "" for the
	// one of this program.
	Checker string
}

// New returns the handler of /console and all paths below it.
func New(o Options) http.Handler {
	base := ""
	if public, err := url.Parse(o.PublicURL); err == nil {
		base = strings.TrimSuffix(public.EscapedPath(), "/")
	}
	c := &console{embedded: listEmbedded()}
	c.page = sync.OnceValue(func() []byte {
		return bytes.Replace(readDist("dist/index.html"), []byte(`<base href="/console/">`), []byte(`<base href="`+base+`/console/">`), 1)
	})
	if c.checker = c.builtChecker; o.Checker != "" {
		c.checker = laterChecker(o.Checker)
	}
	return c
}

// readDist reads a file of dist.
func readDist(name string) []byte {
	text, err := dist.ReadFile(name)
	if err != nil {
		panic(err) // the files are embedded
	}
	return text
}

// ServeHTTP answers GET and HEAD: with a file, or with the page, which shows what the path names.
func (c *console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		h.Set("Allow", "GET, HEAD")
		http.Error(w, "the console supports only GET and HEAD", http.StatusMethodNotAllowed)
		return
	}
	_, name, _ := strings.Cut(r.URL.Path, "/console/")
	if strings.HasPrefix(name, "assets/") {
		if file := c.files[name]; file != nil {
			file().Serve(w, r, forever)
		} else {
			http.NotFound(w, r)
		}
		return
	}
	if strings.HasPrefix(name, checkerFolder) {
		c.checker().serve(w, r, name)
		return
	}
	nonce := rand.Text()
	h.Set("Content-Security-Policy", strings.Replace(pagePolicy, "NONCE", nonce, 1))
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store") // it contains the nonce
	if r.Method == http.MethodGet {
		page := bytes.Replace(c.page(), []byte(`nonce="NONCE"`), []byte(`nonce="`+nonce+`"`), 1)
		page = bytes.Replace(page, []byte(`<meta name="checker" content="">`), []byte(`<meta name="checker" content="`+c.checker().address()+`">`), 1)
		_, _ = w.Write(page) // fails only if the client has gone
	}
}
