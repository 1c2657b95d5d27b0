package server

import (
	"context"
	"net/http"
	"strings"

	"github.com/gorilla/mux"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/document"
	"github.com/postern-id/postern/schemas"
)

// nounHandlers are the HTTP handlers of one kind of resource. The directory decides what is
// allowed.
type nounHandlers struct {
	*server
	resource directory.Resource
	noun     directory.Noun
}

// list handles GET /users and the like.
func (h nounHandlers) list(w http.ResponseWriter, r *http.Request, c *caller) error {
	q, err := readListQuery(r.URL.Query(), h.noun)
	if err != nil {
		return err
	}
	return h.writeList(w, h.noun.Path, h.noun.Plural, q, func(q directory.Query) (*directory.Page, error) {
		return h.resource.List(r.Context(), c.Call, q)
	})
}

// create handles POST /users and the like.
func (h nounHandlers) create(w http.ResponseWriter, r *http.Request, c *caller) error {
	d, err := h.read(w, r, jsonType, yamlType)
	if err != nil {
		return err
	}
	item, err := h.resource.Create(r.Context(), withReason(r, c.Call), d)
	if err != nil {
		return err
	}
	w.Header().Set("Location", h.base+h.noun.Path+"/"+item.ID)
	return writeItem(w, r, http.StatusCreated, item)
}

// get handles GET /users/{id} and the like.
func (h nounHandlers) get(w http.ResponseWriter, r *http.Request, c *caller) error {
	item, err := h.resource.Get(r.Context(), c.Call, pathID(r))
	return answerGet(w, r, item, err)
}

// answerGet replies with a resource, or 304 if the client has it. err is that of reading it.
func answerGet(w http.ResponseWriter, r *http.Request, item *directory.Item, err error) error {
	if err != nil {
		return err
	}
	if !document.Matches(r.Header["If-None-Match"], item.ETag, true) {
		return writeItem(w, r, http.StatusOK, item)
	}
	w.Header().Add("Vary", "Accept")
	w.Header().Set("ETag", item.ETag)
	w.WriteHeader(http.StatusNotModified)
	return nil
}

// change returns the handler of PUT or PATCH /users/{id} and the like, whose body has one of the
// media types.
func (h nounHandlers) change(apply func(ctx context.Context, c directory.Call, id, match string, d *schemas.Document) (*directory.Item, error), types ...string) handler {
	return func(w http.ResponseWriter, r *http.Request, c *caller) error {
		d, err := h.read(w, r, types...)
		if err != nil {
			return err
		}
		item, err := apply(r.Context(), withReason(r, c.Call), pathID(r), ifMatch(r), d)
		if err == nil && c.Permits(h.noun.Read) {
			err = h.reportFormer(r.Context(), c, d, item)
		}
		return writeReadable(w, r, c, h.noun, item, err)
	}
}

// mergePatch applies a JSON Merge Patch (RFC 7396).
func (h nounHandlers) mergePatch(ctx context.Context, c directory.Call, id, match string, d *schemas.Document) (*directory.Item, error) {
	return directory.Patch(ctx, h.resource, c, id, match, d)
}

// delete handles DELETE /users/{id} and the like.
func (h nounHandlers) delete(w http.ResponseWriter, r *http.Request, c *caller) error {
	return writeNoContent(w, h.resource.Delete(r.Context(), c.Call, pathID(r), ifMatch(r)))
}

// read reads the body of a write, in one of the media types.
func (h nounHandlers) read(w http.ResponseWriter, r *http.Request, types ...string) (*schemas.Document, error) {
	limit, code := int64(resourceBody), schemas.CodeInvalidRequest
	switch h.noun.Name {
	case "group", "role":
		limit = membersBody
	case "flow":
		code = schemas.CodeInvalidFlow
	}
	return readDocument(w, r, limit, code, types...)
}

// secretRotation is the body of POST /applications/{id}/client-secret, which may be empty.
type secretRotation struct {
	Overlap      *int64 `json:"overlap,omitempty"` // in seconds
	RevokeTokens bool   `json:"revokeTokens,omitempty"`
}

func (*secretRotation) check() []schemas.Problem { return nil } // the directory does

// rotateSecret handles POST /applications/{id}/client-secret: only this reply contains the secret.
func (s *server) rotateSecret(w http.ResponseWriter, r *http.Request, c *caller) error {
	var body secretRotation
	if r.ContentLength != 0 {
		if err := readJSON(w, r, smallBody, &body); err != nil {
			return err
		}
	}
	item, err := s.Directory.RotateSecret(r.Context(), c.Call, pathID(r), directory.SecretRotation{Overlap: body.Overlap, RevokeTokens: body.RevokeTokens})
	if err != nil {
		return err
	}
	app := item.Value.(*schemas.Application)
	return writeJSON(w, http.StatusOK, secretReply{app.ClientID, app.ClientSecret, app.FormerSecretExpiresAt})
}

// revokeTokens handles POST /applications/{id}/revoke-tokens.
func (s *server) revokeTokens(w http.ResponseWriter, r *http.Request, c *caller) error {
	_, err := s.Directory.RevokeTokens(r.Context(), c.Call, pathID(r))
	return writeNoContent(w, err)
}

// revokeAllTokens handles POST /revoke-tokens. It replies with the number of applications.
func (s *server) revokeAllTokens(w http.ResponseWriter, r *http.Request, c *caller) error {
	n, err := s.Directory.RevokeAllTokens(r.Context(), c.Call)
	return writeResult(w, map[string]int{"applications": n}, err)
}

// pathID returns the id in the path.
func pathID(r *http.Request) string { return mux.Vars(r)["id"] }

// ifMatch returns the If-Match condition of a change; "" for none.
func ifMatch(r *http.Request) string { return strings.Join(r.Header.Values("If-Match"), ",") }

// writeResult writes the result of a handler, or returns its error.
func writeResult(w http.ResponseWriter, v any, err error) error {
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, v)
}

// writeItemResult is writeResult for a resource.
func writeItemResult(w http.ResponseWriter, r *http.Request, item *directory.Item, err error) error {
	if err != nil {
		return err
	}
	return writeItem(w, r, http.StatusOK, item)
}

// writeReadable is writeItemResult for callers who may read such resources. Others get no content: the
// resource can contain what they have not sent.
func writeReadable(w http.ResponseWriter, r *http.Request, c *caller, of directory.Noun, item *directory.Item, err error) error {
	if !c.Permits(of.Read) {
		return writeNoContent(w, err)
	}
	return writeItemResult(w, r, item, err)
}

// writeNoContent replies that something was done, or returns the error.
func writeNoContent(w http.ResponseWriter, err error) error {
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
