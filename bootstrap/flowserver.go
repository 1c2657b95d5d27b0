package bootstrap

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/schemas"
)

// FlowServer reads and writes the flows of a server over HTTP, with the permissions of its
// token.
type FlowServer struct{ remote *remoteServer }

// StoredFlow is a flow stored on a server.
type StoredFlow struct {
	*schemas.Flow
	etag string
}

// FlowVersion is one version of a flow, without its definition.
type FlowVersion struct {
	Version   int       `json:"version"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"createdAt"`
	IsActive  bool      `json:"isActive"`
	// Author is the zero value for a version from before authors were recorded.
	Author   FlowAuthor `json:"author"`
	Reason   string     `json:"reason"`
	OpenRuns int        `json:"openRuns"` // unfinished runs that continue on it
}

// FlowAuthor is the actor that stored a version. Names are "" if the caller may not read them;
// ClientName is "" for the console, too.
type FlowAuthor struct {
	schemas.Actor
	Name       string `json:"name"`
	ClientName string `json:"clientName"`
}

// Client sends requests to the API of a server, with the permissions of its token.
type Client struct{ remote *remoteServer }

// Connect connects to a server. It uses the address, the HTTP client and the token of the setup;
// without a token the administrator signs in.
func Connect(ctx context.Context, setup Setup) (*Client, error) {
	c := &Client{&remoteServer{setup}}
	if setup.Token != "" {
		return c, nil
	}
	return c, c.remote.signInAdmin(ctx)
}

// Send sends a request, with a JSON body unless it is nil, and decodes the reply unless reply is nil.
// The error for an unsuccessful status is a *schemas.Error.
func (c *Client) Send(ctx context.Context, method, path string, body, reply any) error {
	_, err := c.remote.send(ctx, method, path, "", body, reply)
	return err
}

// Create creates a declared resource. If its file is wrong, the error is declare.Faults.
func (c *Client) Create(ctx context.Context, r declare.Resource) (*declare.Entry, error) {
	return declare.Store(ctx, c.remote, r, c.remote.Secrets, nil)
}

// Replace replaces the resource with the id by a declared one. If its file is wrong, the error is
// declare.Faults.
func (c *Client) Replace(ctx context.Context, r declare.Resource, id string) (*declare.Entry, error) {
	at, err := c.remote.requestResource(ctx, http.MethodGet, "/"+r.Noun.Folder+"/"+url.PathEscape(id), "", nil)
	if err != nil {
		return nil, err
	}
	return declare.Store(ctx, c.remote, r, c.remote.Secrets, at)
}

// Flows returns the flows of the server.
func (c *Client) Flows() *FlowServer { return &FlowServer{c.remote} }

// List returns every flow.
func (s *FlowServer) List(ctx context.Context) (list []schemas.Flow, err error) {
	for {
		var page struct {
			Total int            `json:"totalResults"`
			Flows []schemas.Flow `json:"flows"`
		}
		if _, err := s.remote.send(ctx, http.MethodGet, fmt.Sprintf("/flows?limit=100&offset=%d", len(list)), "", nil, &page); err != nil {
			return nil, err
		}
		list = append(list, page.Flows...)
		if len(page.Flows) == 0 || len(list) >= page.Total {
			return list, nil
		}
	}
}

// Chains returns the report about the applications and flows of the server.
func (s *FlowServer) Chains(ctx context.Context) (*chains.Report, error) {
	report := new(chains.Report)
	_, err := s.remote.send(ctx, http.MethodGet, "/flows/chains", "", nil, report)
	return report, err
}

// Find returns the flow of a type and handle, with its Parts; nil if there is none.
func (s *FlowServer) Find(ctx context.Context, t schemas.FlowType, handle string) (*StoredFlow, error) {
	noun, _ := declare.NounOf("flows")
	found, err := s.remote.List(ctx, noun, handle)
	if err != nil {
		return nil, err
	}
	for _, e := range found {
		if e.Document.TextAt("flowType") == string(t) {
			flow := new(schemas.Flow)
			etag, err := s.remote.send(ctx, http.MethodGet, flowPath(e.ID), "", nil, flow)
			if err == nil {
				err = s.readSubflowVersions(ctx, flow, maxDepth)
			}
			return &StoredFlow{flow, etag}, err
		}
	}
	return nil, nil
}

// maxDepth bounds the recursion into sub-flows: another server could send an endless chain.
const maxDepth = 10

// readSubflowVersions reads the parts of a flow: the versions of sub-flows that it uses. It
// omits deleted ones.
func (s *FlowServer) readSubflowVersions(ctx context.Context, f *schemas.Flow, depth int) error {
	if len(f.Uses) > 0 && depth == 0 {
		return fmt.Errorf("the server's sub-flows are nested more than %d deep; expected a Postern server", maxDepth)
	}
	f.Parts = nil
	for _, u := range f.Uses {
		part := new(schemas.Flow)
		_, err := s.remote.send(ctx, http.MethodGet, fmt.Sprintf("%s/versions/%d", flowPath(u.ID), u.Version), "", nil, part)
		if schemas.HasClass(err, schemas.NotFound) {
			continue
		}
		if err == nil {
			err = s.readSubflowVersions(ctx, part, depth-1)
		}
		if err != nil {
			return err
		}
		if f.Parts == nil {
			f.Parts = map[string]*schemas.Flow{}
		}
		f.Parts[u.Handle] = part
	}
	return nil
}

// FlowChange is a flow to store, and the one that it replaces; nil if it is new.
type FlowChange struct {
	Flow *schemas.Flow
	Was  *StoredFlow
}

// Push stores flows in one transaction, all or none: each is new, or adds a version to the one that was read.
// If one has changed since, the error has Class Precondition. The paths in an error begin with that of the
// flow in the list. The versions have the reason; "" for none. A dry run makes all checks and stores nothing.
func (s *FlowServer) Push(ctx context.Context, changes []FlowChange, reason string, dryRun bool) ([]schemas.Flow, error) {
	type write struct {
		Match string        `json:"match,omitempty"`
		Flow  *schemas.Flow `json:"flow"`
	}
	var writes []write
	for _, c := range changes {
		w := write{Flow: c.Flow}
		if c.Was != nil {
			w.Match = c.Was.etag
		}
		writes = append(writes, w)
	}
	var reply struct {
		Flows []schemas.Flow `json:"flows"`
	}
	_, err := s.remote.send(ctx, http.MethodPost, "/flows/batch"+reasonQuery(reason), "", map[string]any{"flows": writes, "dryRun": dryRun}, &reply)
	if err == nil && len(reply.Flows) != len(changes) {
		err = fmt.Errorf("the server replied with %d flows to %d; expected a Postern server of this release", len(reply.Flows), len(changes))
	}
	return reply.Flows, err
}

// Versions returns the newest hundred versions of a flow, newest first.
func (s *FlowServer) Versions(ctx context.Context, id string) ([]FlowVersion, error) {
	var page struct {
		Versions []FlowVersion `json:"versions"`
	}
	_, err := s.remote.send(ctx, http.MethodGet, flowPath(id)+"/versions?limit=100", "", nil, &page)
	return page.Versions, err
}

// Version returns a version of a flow, with its Parts. If there is none, the error has Class NotFound.
func (s *FlowServer) Version(ctx context.Context, id string, version int) (*schemas.Flow, error) {
	flow := new(schemas.Flow)
	_, err := s.remote.send(ctx, http.MethodGet, fmt.Sprintf("%s/versions/%d", flowPath(id), version), "", nil, flow)
	if err == nil {
		err = s.readSubflowVersions(ctx, flow, maxDepth)
	}
	return flow, err
}

// Restore creates a new version from an older one. The version has the reason; "" for none.
func (s *FlowServer) Restore(ctx context.Context, id string, version int, reason string) (*schemas.Flow, error) {
	now := new(schemas.Flow)
	_, err := s.remote.send(ctx, http.MethodPost, flowPath(id)+"/restore"+reasonQuery(reason), "", map[string]int{"version": version}, now)
	return now, err
}

func reasonQuery(reason string) string {
	if reason == "" {
		return ""
	}
	return "?" + url.Values{"reason": {reason}}.Encode()
}

func flowPath(id string) string { return "/flows/" + url.PathEscape(id) }
