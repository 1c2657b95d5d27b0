// Package document serves public texts over HTTP: compressed if the client accepts that, and with
// 304 if it has them already.
//
// Compression next to secrets reveals them if an attacker can choose a part of the text (BREACH).
// So a [Document] is for public texts only.
package document

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Document is a text as it is sent. It may be used by many goroutines at once.
type Document struct {
	mediaType, etag string
	plain, packed   func() []byte // packed by gzip; what is not there is computed once
}

// New creates a document. The caller must not change the text afterwards.
func New(mediaType string, text []byte) *Document {
	sum := sha256.Sum256(text)
	return &Document{
		mediaType: mediaType, etag: hex.EncodeToString(sum[:8]), plain: func() []byte { return text },
		packed: sync.OnceValue(func() []byte { return pack(text) }),
	}
}

// NewPacked creates a document from its gzip form (RFC 1952), which stays in memory as it is. It is
// unpacked for the first client that does not accept gzip.
func NewPacked(mediaType string, packed []byte) (*Document, error) {
	if _, err := gzip.NewReader(bytes.NewReader(packed)); err != nil {
		return nil, err
	}
	sum := sha256.Sum256(packed)
	return &Document{
		mediaType: mediaType, etag: hex.EncodeToString(sum[:8]), packed: func() []byte { return packed },
		plain: sync.OnceValue(func() []byte { return unpack(packed) }),
	}, nil
}

// Tag identifies the contents. It consists of letters and digits.
func (d *Document) Tag() string { return d.etag }

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

func unpack(packed []byte) []byte {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		panic(err) // NewPacked has read the header
	}
	text, err := io.ReadAll(r)
	if err != nil {
		panic(err) // the program is damaged: it contains the text
	}
	return text
}

// Serve answers a GET or HEAD, with 304 if the client has the document already
// (RFC 9110 §13). Each encoding is a representation with an ETag of its own. Caching
// is the Cache-Control.
func (d *Document) Serve(w http.ResponseWriter, r *http.Request, caching string) {
	h := w.Header()
	h.Set("Content-Type", d.mediaType)
	h.Set("Cache-Control", caching)
	h.Add("Vary", "Accept-Encoding")
	body, etag := d.plain, d.etag
	if takesGzip(r.Header.Get("Accept-Encoding")) {
		h.Set("Content-Encoding", "gzip")
		body, etag = d.packed, d.etag+"-gz"
	}
	h.Set("ETag", `"`+etag+`"`)
	if needsContent(r.Header) {
		http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body()))
		return
	}
	text := body()
	h.Set("Accept-Ranges", "bytes")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	if r.Method != http.MethodHead {
		_, _ = w.Write(text) // fails only if the client has gone
	}
}

// needsContent reports whether a request is for a part of the document, or has conditions. Without
// them http.ServeContent does the same as Serve, but copies the text.
func needsContent(h http.Header) bool {
	for _, name := range []string{"Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"} {
		if h[name] != nil {
			return true
		}
	}
	return false
}

// takesGzip reads the relevant part of Accept-Encoding (RFC 9110 §12.5.3): gzip is accepted unless
// its weight is zero.
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
