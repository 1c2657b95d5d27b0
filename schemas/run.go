package schemas

import (
	"encoding/hex"
	"encoding/json"
	"time"
)

// RunStatus is the status of a run.
type RunStatus string

// The statuses of a run, as POST /flow/execute returns them.
const (
	Incomplete RunStatus = "INCOMPLETE"
	Complete   RunStatus = "COMPLETE"
	Failed     RunStatus = "ERROR"
)

// Run is one execution of one version of a flow, as stored between steps. Revision counts its
// commits from 1; State is the engine's and opaque to the store. A terminal run has no State.
type Run struct {
	ID            string
	Revision      int64
	Status        RunStatus
	FlowID        string
	FlowVersion   int
	ApplicationID string
	UserID        string // the user of the run, once known
	Node          string // the node that asked last
	State         json.RawMessage
	CreatedAt     time.Time
	UpdatedAt     time.Time
	ExpiresAt     time.Time
}

// Digest identifies the run where its id must not be, such as in logs.
func (r *Run) Digest() string { return DigestExecution(r.ID) }

// DigestExecution returns the form of an executionId in the audit log and in log lines: its
// SHA-256, in hexadecimal. An id has 74 random bits, so it cannot be found from its digest; a
// client that knows the id can find the events of its run.
func DigestExecution(id string) string { return hex.EncodeToString(HashSecret(id)) }
