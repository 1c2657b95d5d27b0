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
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Document is a text as it is sent. It may be used by many goroutines at once.
type Document struct {
	mediaType, etag string
	plain           []byte
	packed          func() []byte // by gzip, once
}

// New creates a document. The caller must not change the text afterwards.
func New(mediaType string, text []byte) *Document {
	sum := sha256.Sum256(text)
	return &Document{
		mediaType: mediaType, etag: hex.EncodeToString(sum[:8]), plain: text,
		packed: sync.OnceValue(func() []byte { return pack(text) }),
	}
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
		body, etag = d.packed(), d.etag+"-gz"
	}
	h.Set("ETag", `"`+etag+`"`)
	http.ServeContent(w, r, "", time.Time{}, bytes.NewReader(body))
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
