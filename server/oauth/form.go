package oauth

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// maxForm is the maximum size of a body, in bytes.
const maxForm = 64 << 10

// clientParameters are the parameters of client authentication.
func clientParameters() []string {
	return []string{"client_id", "client_secret", "client_assertion", "client_assertion_type"}
}

// tokenParameters are the parameters of the token endpoint. resource can be repeated (RFC 8707 §2).
func tokenParameters() []string {
	return append(clientParameters(), "grant_type", "scope", "resource",
		"code", "redirect_uri", "code_verifier", "refresh_token")
}

// readForm reads the known parameters of a request from its body, and stores them where op reads
// them. Unknown ones are ignored (RFC 6749 §3.2), so that the decoder never sees names that a
// client chose; empty ones count as absent (§3.2). A repeated parameter is rejected, because a
// proxy could read the other value.
func readForm(w http.ResponseWriter, r *http.Request, names []string) error {
	if r.URL.RawQuery != "" {
		return errorf(codeInvalidRequest, "send the parameters in the body of the request: query strings end up in logs")
	}
	sent, err := readBody(w, r)
	if err != nil {
		return err
	}
	form, err := knownParameters(sent, names)
	if err != nil {
		return err
	}
	r.Form, r.PostForm = form, form
	return nil
}

// readBody reads a body as a form.
func readBody(w http.ResponseWriter, r *http.Request) (url.Values, error) {
	if err := checkMediaType(r); err != nil {
		return nil, err
	}
	text, err := readLimited(w, r, maxForm)
	if err != nil {
		return nil, err
	}
	sent, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, errorf(codeInvalidRequest, "the body is not valid application/x-www-form-urlencoded: check its encoding")
	}
	return sent, nil
}

// readLimited reads a body of at most limit bytes.
func readLimited(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		return nil, &Error{Status: http.StatusRequestEntityTooLarge, Code: codeInvalidRequest, Description: fmt.Sprintf("the body has more than %d bytes", limit)}
	}
	if err != nil {
		return nil, errorf(codeInvalidRequest, "the body ended before it was complete")
	}
	return text, nil
}

func checkMediaType(r *http.Request) error {
	const form = "application/x-www-form-urlencoded"
	fields := r.Header.Values("Content-Type")
	if len(fields) != 1 {
		return errorf(codeInvalidRequest, "expected one header Content-Type: %s", form)
	}
	mediaType, parameters, err := mime.ParseMediaType(fields[0])
	charset, given := parameters["charset"]
	if err != nil || mediaType != form || given && !strings.EqualFold(charset, "utf-8") {
		return errorf(codeInvalidRequest, "expected the body as %s in UTF-8, and a matching Content-Type header", form)
	}
	if r.Header.Get("Content-Encoding") != "" {
		return errorf(codeInvalidRequest, "expected an uncompressed body, without a Content-Encoding")
	}
	return nil
}

// knownParameters returns the known parameters with a value.
func knownParameters(sent url.Values, names []string) (url.Values, error) {
	form := make(url.Values, len(sent))
	for _, name := range names {
		values := sent[name]
		if len(values) > 1 && name != "resource" {
			return nil, errorf(codeInvalidRequest, "the parameter %s occurs %d times: send it once", name, len(values)).refusing(name, "")
		}
		if values = slices.DeleteFunc(values, isEmpty); len(values) > 0 {
			form[name] = values
		}
	}
	return form, nil
}

func isEmpty(text string) bool { return text == "" }
