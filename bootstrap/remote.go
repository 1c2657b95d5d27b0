package bootstrap

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/schemas"
)

// remoteServer is a server over HTTP as a target. Without a token its API must be open.
type remoteServer struct{ Setup }

// maxReplySize limits how many bytes of a reply are read.
const maxReplySize = 16 << 20

// NewID implements declare.Target.
func (*remoteServer) NewID() string { return schemas.NewID() }

// Get implements declare.Target.
func (r *remoteServer) Get(ctx context.Context, n declare.Noun, id string) (*declare.Entry, error) {
	e, err := r.requestResource(ctx, http.MethodGet, "/"+n.Folder+"/"+url.PathEscape(id), "", nil)
	if schemas.HasClass(err, schemas.NotFound) {
		return nil, nil
	}
	return e, err
}

// List implements declare.Target. Its entries have no entity tags.
func (r *remoteServer) List(ctx context.Context, n declare.Noun, value string) ([]*declare.Entry, error) {
	query := url.Values{"limit": {"100"}}
	if value != "" {
		text, err := json.Marshal(value)
		if err != nil {
			return nil, err
		}
		query.Set("filter", n.Filter+" eq "+string(text))
	}
	var text json.RawMessage
	if _, err := r.send(ctx, http.MethodGet, "/"+n.Folder+"?"+query.Encode(), "", nil, &text); err != nil {
		return nil, err
	}
	d, err := declare.Read(text)
	if err != nil {
		return nil, err
	}
	var list []*declare.Entry
	for _, item := range d.ItemsAt(n.Plural) {
		list = append(list, &declare.Entry{ID: item.TextAt("id"), Document: item})
	}
	return list, nil
}

// Create implements declare.Target.
func (r *remoteServer) Create(ctx context.Context, n declare.Noun, d *schemas.Document) (*declare.Entry, error) {
	return r.requestResource(ctx, http.MethodPost, "/"+n.Folder, "", d.JSON())
}

// Replace implements declare.Target.
func (r *remoteServer) Replace(ctx context.Context, n declare.Noun, was *declare.Entry, d *schemas.Document) (*declare.Entry, error) {
	return r.requestResource(ctx, http.MethodPut, "/"+n.Folder+"/"+url.PathEscape(was.ID), was.ETag, d.JSON())
}

// requestResource sends a request and reads the resource of the reply.
func (r *remoteServer) requestResource(ctx context.Context, method, path, match string, body any) (*declare.Entry, error) {
	var text json.RawMessage
	tag, err := r.send(ctx, method, path, match, body, &text)
	if err != nil {
		return nil, err
	}
	d, err := declare.Read(text)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", method, path, err)
	}
	return &declare.Entry{ID: d.TextAt("id"), ETag: tag, Document: d}, nil
}

// send sends a request, with a body unless it is nil, decodes the reply unless reply is nil, and
// returns the entity tag. The error for an unsuccessful status is a *schemas.Error.
func (r *remoteServer) send(ctx context.Context, method, path, match string, body, reply any) (tag string, err error) {
	var text []byte
	if body != nil {
		if text, err = json.Marshal(body); err != nil {
			return "", err
		}
	}
	text, tag, err = r.exchange(ctx, method, path, match, text)
	if err != nil || reply == nil {
		return tag, err
	}
	if err := json.Unmarshal(text, reply); err != nil {
		return "", fmt.Errorf("%s %s did not return a Postern reply: %w", method, path, err)
	}
	return tag, nil
}

// exchange sends a request and returns the body and the entity tag of the reply.
func (r *remoteServer) exchange(ctx context.Context, method, path, match string, body []byte) (reply []byte, tag string, err error) {
	request, err := http.NewRequestWithContext(ctx, method, r.BaseURL+path, bytes.NewReader(body))
	if err != nil {
		return nil, "", err
	}
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}
	if match != "" {
		request.Header.Set("If-Match", match)
	}
	if r.Token != "" {
		request.Header.Set("Authorization", "Bearer "+r.Token)
	}
	response, err := r.HTTP.Do(request)
	if isUntrustedCertificate(err) {
		err = fmt.Errorf("%w; name the certificate to trust with --ca, use --config if the server's configuration is on this machine, or --insecure for a local server", err)
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		err = fmt.Errorf("%w; start the server, or name another one with its URL or --config", err)
	}
	if err != nil {
		return nil, "", err
	}
	defer response.Body.Close()
	reply, err = io.ReadAll(io.LimitReader(response.Body, maxReplySize))
	if err != nil {
		return nil, "", err
	}
	if response.StatusCode >= 300 {
		return nil, "", responseError(method, path, response.StatusCode, reply)
	}
	return reply, response.Header.Get("ETag"), nil
}

// responseError returns the error of a reply. A reply that is no error of this API gets the
// class Internal: another server has answered.
func responseError(method, path string, status int, body []byte) error {
	var e schemas.Error
	if err := json.Unmarshal(body, &e); err != nil || e.Code == "" {
		return fmt.Errorf("%s %s returned status %d without a Postern error: is this the right address?", method, path, status)
	}
	e.Class = errorClass(status)
	for i := range e.Errors { // positions are in the generated JSON
		positioned := e.Errors[i].String()
		e.Errors[i].Line, e.Errors[i].Column = 0, 0
		e.Description.DefaultValue = strings.ReplaceAll(e.Description.DefaultValue, positioned, e.Errors[i].String())
	}
	return &e
}

// errorClass returns the class for an HTTP status.
func errorClass(status int) schemas.Class {
	return map[int]schemas.Class{
		http.StatusBadRequest: schemas.Invalid, http.StatusUnauthorized: schemas.Unauthenticated, http.StatusForbidden: schemas.Forbidden,
		http.StatusNotFound: schemas.NotFound, http.StatusConflict: schemas.Conflict, http.StatusPreconditionFailed: schemas.Precondition,
		http.StatusRequestEntityTooLarge: schemas.TooLarge, http.StatusTooManyRequests: schemas.Throttled, http.StatusServiceUnavailable: schemas.Unavailable,
	}[status] // Internal for others
}

// isUntrustedCertificate reports whether the server's certificate is untrusted. Waiting
// does not help then.
func isUntrustedCertificate(err error) bool {
	var untrusted *tls.CertificateVerificationError
	return errors.As(err, &untrusted)
}
