package gate

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
)

//go:embed web
var web embed.FS

const (
	shellFile = "index.html" // what every page is made of
	htmlType  = "text/html; charset=utf-8"

	// callback is where other providers send people back to, with a code in the
	// address.
	callback = "callback"
)

// pageNames are the pages, by the last part of their path.
func pageNames() []string {
	return []string{"signin", "signup", "consent", "error", "signout", "signedout", "account", callback}
}

// coreModules are what every page needs: the browser is told of them at once,
// instead of finding one through another.
func coreModules() []string {
	return []string{"dom.js", "wire.js", "words.js", "theme.js", "passkey.js", "page.js", "step.js"}
}

// page is what differs between the pages: all are the one file.
type page struct {
	Name, Version, Account string
	Up                     string // the way to /gate/ from the page's own folder
	Modules                []string
}

func (g *gate) page(name string) page {
	return page{Name: name, Version: g.version, Account: g.AccountApplicationID, Modules: coreModules()}
}

// document is a file as it is sent, prepared once.
type document struct {
	mediaType, etag string
	plain, packed   []byte // packed is by gzip
}

// prepareFiles makes everything else under web/, and a version that changes
// with any of it.
func prepareFiles() (version string, files map[string]*document) {
	names, err := fs.Glob(web, "web/*")
	if err != nil {
		panic(err) // the pattern is malformed
	}
	files = map[string]*document{}
	sum := sha256.New()
	for _, name := range names { // sorted
		text, err := web.ReadFile(name)
		if err != nil {
			panic(err) // it was listed just now
		}
		sum.Write([]byte(name + "\x00" + strconv.Itoa(len(text)) + "\x00"))
		sum.Write(text)
		if base := path.Base(name); base != shellFile {
			files[base] = newDocument(mediaType(base), text)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:6]), files
}

// mediaType is set rather than guessed: what the system's MIME table says of .js
// may be something that browsers refuse to run.
func mediaType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	panic("gate: " + name + " is of no type that is served")
}

func newDocument(mediaType string, text []byte) *document {
	sum := sha256.Sum256(text)
	return &document{mediaType: mediaType, etag: hex.EncodeToString(sum[:8]), plain: text, packed: pack(text)}
}

func pack(text []byte) []byte {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		panic(err) // there is no such level
	}
	_, _ = w.Write(text) // a buffer takes everything
	_ = w.Close()
	return packed.Bytes()
}

// serve answers a GET or HEAD, with 304 if the client has the document already
// (RFC 9110 §13). Each encoding is a representation with an ETag of its own.
func (d *document) serve(w http.ResponseWriter, r *http.Request, caching string) {
	h := w.Header()
	h.Set("Content-Type", d.mediaType)
	h.Set("Cache-Control", caching)
	h.Set("Vary", "Accept-Encoding")
	body, etag := d.plain, d.etag
	if takesGzip(r.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body, etag = d.packed, d.etag+"-gz"
	}
	h.Set("ETag", `"`+etag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
}

// takesGzip reads Accept-Encoding (RFC 9110 §12.5.3) as far as it matters:
// whoever names gzip takes it, unless by a weight of zero.
func takesGzip(field string) bool {
	for coding := range strings.SplitSeq(field, ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		_, value, weighted := strings.Cut(weight, "=")
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return !weighted || err == nil && q > 0
	}
	return false
}
