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
)

// Document is a text as it is sent. It may be used by many goroutines at once.
type Document struct {
	etag          string
	plain, packed func() form // packed by gzip; what is not there is computed once
}

// form is a representation of a document: its body, and the header fields of all replies with it.
type form struct {
	body                                []byte
	tag, mediaType, length, encodedWith []string // encodedWith is nil for none
}

func newForm(mediaType, etag, encoding string, body []byte) form {
	f := form{body: body, tag: []string{`"` + etag + `"`}, mediaType: []string{mediaType}, length: []string{strconv.Itoa(len(body))}}
	if encoding != "" {
		f.encodedWith = []string{encoding}
	}
	return f
}

// New creates a document. The caller must not change the text afterwards.
func New(mediaType string, text []byte) *Document {
	return newDocument(mediaType, text, func() []byte { return text }, func() []byte { return pack(text) })
}

// NewPacked creates a document from its gzip form (RFC 1952), which stays in memory as it is. It is
// unpacked for the first client that does not accept gzip.
func NewPacked(mediaType string, packed []byte) (*Document, error) {
	if _, err := gzip.NewReader(bytes.NewReader(packed)); err != nil {
		return nil, err
	}
	return newDocument(mediaType, packed, func() []byte { return unpack(packed) }, func() []byte { return packed }), nil
}

// newDocument creates a document that is identified by its contents.
func newDocument(mediaType string, contents []byte, plain, packed func() []byte) *Document {
	sum := sha256.Sum256(contents)
	etag := hex.EncodeToString(sum[:8])
	return &Document{
		etag:   etag,
		plain:  sync.OnceValue(func() form { return newForm(mediaType, etag, "", plain()) }),
		packed: sync.OnceValue(func() form { return newForm(mediaType, etag+"-gz", "gzip", packed()) }),
	}
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

// Serve answers a GET or HEAD, with 304 if the client has the document already, and with 412 if it
// requires another one (RFC 9110 §13). It ignores a request for a range, as §14.2 allows: documents
// are small. Each encoding is a representation with an ETag of its own. Caching is the Cache-Control.
func (d *Document) Serve(w http.ResponseWriter, r *http.Request, caching string) {
	shown := d.plain
	if takesGzip(r.Header.Get("Accept-Encoding")) {
		shown = d.packed
	}
	f, h := shown(), w.Header()
	h["Etag"], h["Cache-Control"] = f.tag, []string{caching}
	h["Vary"] = append(h["Vary"], "Accept-Encoding")
	switch {
	case r.Header.Get("If-Match") != "" && !Matches(r.Header["If-Match"], f.tag[0], false):
		w.WriteHeader(http.StatusPreconditionFailed)
		return
	case Matches(r.Header["If-None-Match"], f.tag[0], true):
		w.WriteHeader(http.StatusNotModified)
		return
	}
	h["Content-Type"], h["Content-Length"] = f.mediaType, f.length // replies share the values: nothing changes one in place
	if f.encodedWith != nil {
		h["Content-Encoding"] = f.encodedWith
	}
	if r.Method != http.MethodHead {
		_, _ = w.Write(f.body) // fails only if the client has gone
	}
}

// Matches reports whether the fields of an If-Match or If-None-Match name a tag: RFC 9110 §13.1. The
// latter are compared weakly.
func Matches(fields []string, tag string, weakly bool) bool {
	for one := range strings.SplitSeq(strings.Join(fields, ","), ",") { // a tag of this server contains no comma
		one = strings.TrimSpace(one)
		if one == "*" || one == tag || weakly && strings.TrimPrefix(one, "W/") == tag {
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
		if !weighted {
			return true
		}
		q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
		return err == nil && q > 0
	}
	return false
}
