package server

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// maxBatch limits the flows of a request.
const maxBatch = 200

// batchBody is the body of POST /flows/batch.
type batchBody struct {
	Flows []batchFlow `json:"flows"`
	// DryRun makes all checks and stores nothing.
	DryRun bool `json:"dryRun,omitempty"`
}

// batchFlow is a flow of a batch. Match is the ETag of the stored flow, which must not have changed.
type batchFlow struct {
	Match string          `json:"match,omitempty"`
	Flow  json.RawMessage `json:"flow"`
}

func (b *batchBody) check() []schemas.Problem {
	if len(b.Flows) == 0 || len(b.Flows) > maxBatch {
		return []schemas.Problem{{Path: "flows", Message: fmt.Sprintf("expected 1 to %d flows, got %d", maxBatch, len(b.Flows))}}
	}
	return nil
}

// batchReply is the reply of POST /flows/batch: the stored versions in the order of the request.
type batchReply struct {
	Flows []storedVersion `json:"flows"`
}

type storedVersion struct {
	ID            string           `json:"id"`
	FlowType      schemas.FlowType `json:"flowType"`
	Handle        string           `json:"handle"`
	ActiveVersion int              `json:"activeVersion"`
}

// storeFlows handles POST /flows/batch: it stores all flows or none.
func (s *server) storeFlows(w http.ResponseWriter, r *http.Request, c *caller) error {
	var body batchBody
	if err := readJSON(w, r, membersBody, &body); err != nil {
		return err
	}
	var writes []directory.FlowWrite
	for i, f := range body.Flows {
		d, problems := schemas.ParseJSON(f.Flow)
		if len(problems) > 0 {
			return invalidBody(schemas.Problem{Path: fmt.Sprintf("flows[%d].flow", i), Message: problems[0].Message})
		}
		writes = append(writes, directory.FlowWrite{Document: d, Match: f.Match})
	}
	call := withReason(r, c.Call)
	call.DryRun = body.DryRun
	items, err := s.Directory.StoreFlows(r.Context(), call, writes)
	if err != nil {
		return err
	}
	reply := batchReply{}
	for _, item := range items {
		f := item.Value.(*schemas.Flow)
		reply.Flows = append(reply.Flows, storedVersion{f.ID, f.FlowType, f.Handle, f.ActiveVersion})
	}
	return writeJSON(w, http.StatusOK, reply)
}
