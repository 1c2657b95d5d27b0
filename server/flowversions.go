package server

import (
	"net/http"
	"strconv"
	"time"

	"github.com/gorilla/mux"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// versionInfo is a version of a flow, without its definition.
type versionInfo struct {
	Version   int       `json:"version"`
	Handle    string    `json:"handle"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"createdAt"`
	IsActive  bool      `json:"isActive"` // new runs use it
	// Author is absent in versions from before authors were recorded.
	Author   *versionAuthor `json:"author,omitempty"`
	Reason   string         `json:"reason,omitempty"`
	OpenRuns int            `json:"openRuns"` // unfinished runs that continue on it
}

// versionAuthor is the actor that stored a version, as the audit log records it. Names are absent if
// the caller may not read them; ClientName is absent for the console, too.
type versionAuthor struct {
	schemas.Actor
	Name       string `json:"name,omitempty"`
	ClientName string `json:"clientName,omitempty"`
}

func newVersionInfo(v directory.FlowVersion) versionInfo {
	info := versionInfo{Version: v.Version, Handle: v.Handle, Name: v.Name, CreatedAt: v.CreatedAt, IsActive: v.Active, Reason: v.Reason, OpenRuns: v.OpenRuns}
	if v.Author.Type != "" {
		info.Author = &versionAuthor{v.Author, v.AuthorName, v.ClientName}
	}
	return info
}

// withReason returns the call of a change with the reason of the query.
func withReason(r *http.Request, c directory.Call) directory.Call {
	c.Reason = r.URL.Query().Get("reason")
	return c
}

// flowVersions handles GET /flows/{id}/versions, newest first.
func (s *server) flowVersions(w http.ResponseWriter, r *http.Request, c *caller) error {
	q, err := partQuery(r)
	if err != nil {
		return err
	}
	return s.writeList(w, r.URL.Path, "versions", q, func(q directory.Query) (*directory.Page, error) {
		flow, err := s.Directory.Flows.Get(r.Context(), c.Call, pathID(r))
		if err != nil {
			return nil, err
		}
		// Versions count from 1, and the newest is active.
		page := &directory.Page{Total: flow.Value.(*schemas.Flow).ActiveVersion}
		found, err := s.Directory.FlowVersions(r.Context(), c.Call, flow.ID, q)
		for _, v := range found {
			page.Items = append(page.Items, directory.Item{Value: newVersionInfo(v)})
		}
		return page, err
	})
}

// flowVersion handles GET /flows/{id}/versions/{n}. A version never changes.
func (s *server) flowVersion(w http.ResponseWriter, r *http.Request, c *caller) error {
	n, err := strconv.Atoi(mux.Vars(r)["n"])
	if err != nil || n < 1 {
		return schemas.Errorf(schemas.NotFound, schemas.CodeFlowNotFound, "expected the number of a version, from 1, got %.64q", mux.Vars(r)["n"])
	}
	item, err := s.Directory.FlowVersion(r.Context(), c.Call, pathID(r), n)
	return answerGet(w, r, item, err)
}

// restoreBody is the body of POST /flows/{id}/restore.
type restoreBody struct {
	Version *int `json:"version"`
}

func (b *restoreBody) check() []schemas.Problem {
	switch {
	case b.Version == nil:
		return []schemas.Problem{missingMember("version", "the number of the version to restore")}
	case *b.Version < 1:
		return []schemas.Problem{{Path: "version", Message: "expected a number from 1, got " + strconv.Itoa(*b.Version)}}
	}
	return nil
}

// restoreFlow handles POST /flows/{id}/restore: the content of an older version becomes the next
// one.
func (s *server) restoreFlow(w http.ResponseWriter, r *http.Request, c *caller) error {
	var body restoreBody
	if err := readJSON(w, r, smallBody, &body); err != nil {
		return err
	}
	if _, err := s.Directory.Flows.Get(r.Context(), c.Call, pathID(r)); err != nil {
		return err
	}
	item, err := s.Directory.RestoreFlow(r.Context(), withReason(r, c.Call), pathID(r), *body.Version)
	return writeReadable(w, r, c, s.Directory.Flows.Noun(), item, requestFault(err)) // the body names the version
}
