package main

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

type auditCommands struct {
	List   auditListCommand   `cmd:"" help:"List events, newest first."`
	Tail   auditTailCommand   `cmd:"" help:"Print new events as they are recorded."`
	Verify auditVerifyCommand `cmd:"" help:"Verify that no event of the audit log was altered or removed."`

	Reanchor auditReanchorCommand `cmd:"" help:"Record the faults of a broken audit log, so that it is sealed again."`
}

type auditVerifyCommand struct {
	Config string `type:"path" help:"The configuration file of the local server."`
	Expect string `placeholder:"NUMBER:HASH" help:"The end of the chain that an earlier verification printed or that a sink received. The command fails if the log does not contain it."`
}

// Run verifies the audit log and prints the first fault. It seals the events of the last second
// first.
func (c auditVerifyCommand) Run(ctx context.Context, p program) error {
	expected, err := parseChainEnd("--expect", c.Expect)
	if err != nil {
		return err
	}
	h, err := p.openLocal(ctx, c.Config)
	if err != nil {
		return err
	}
	defer h.close()
	progress := p.startProgress("verifying the audit log")
	defer progress.stop()
	if err := h.rememberForwarded(); err != nil {
		return err
	}
	if _, err := h.chain.Seal(ctx); err != nil && !isBroken(err) {
		return err
	}
	report, err := h.chain.Verify(ctx, expected)
	progress.stop()
	if err != nil {
		return err
	}
	return writeChainReport(p.stdout, report)
}

// verifyPart is the number of events that one request verifies.
const verifyPart = 5000

// verifyAudit verifies the next part of the audit log for a request.
func (h *app) verifyAudit(ctx context.Context, after, expect string) (*schemas.LogVerification, error) {
	from, err := parseChainEnd("after", after)
	if err != nil {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "%v", err)
	}
	expected, err := parseChainEnd("expect", expect)
	if err != nil {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "%v", err)
	}
	report, complete, err := h.chain.VerifyPart(ctx, from, expected, verifyPart)
	if err != nil {
		return nil, err
	}
	found := &schemas.LogVerification{Events: report.Events, Removed: report.Removed, Complete: complete}
	if report.End.Seq > 0 {
		found.End = report.End.String()
	}
	if f := report.Fault; f != nil {
		found.Fault = &schemas.LogFault{Seal: f.Seq, EventID: f.Event.ID, At: f.Event.At, Problem: f.Problem}
	}
	return found, nil
}

// parseChainEnd parses NUMBER:HASH; "" is none. name is its name in errors.
func parseChainEnd(name, text string) (*store.ChainEnd, error) {
	if text == "" {
		return nil, nil
	}
	number, hash, _ := strings.Cut(text, ":")
	seq, numeral := strconv.ParseInt(number, 10, 64)
	raw, digits := hex.DecodeString(hash)
	if numeral != nil || digits != nil || seq < 1 || len(raw) != 32 {
		return nil, fmt.Errorf("%s %.100q: expected the number and the hash of a seal, such as 1200:9f86d0…, with 64 hexadecimal digits", name, text)
	}
	return &store.ChainEnd{Seq: seq, Hash: raw}, nil
}

// writeChainReport writes the result of a verification. A fault is errFindings.
func writeChainReport(w io.Writer, r store.ChainReport) error {
	if r.Fault != nil {
		_, err := fmt.Fprintf(w, "%s\nThe %d events before it are unchanged.\n", describeFault(r.Fault), r.Events)
		return errors.Join(errFindings, err)
	}
	_, err := fmt.Fprintf(w, "The audit log is intact: %d events, and %d removed after the retention time.\n", r.Events, r.Removed)
	if a := r.Anchor; err == nil && a.End.Seq > 0 {
		_, err = fmt.Fprintf(w, "The key proves the seals after number %d. Those up to it were vouched for at %s (%s).\n", a.End.Seq, formatTime(a.At), a.Reason)
	}
	if err == nil && r.Known > 0 {
		_, err = fmt.Fprintf(w, "%d seals have faults that were acknowledged: see the events audit.anchored.\n", r.Known)
	}
	if err == nil && r.Late > 0 {
		_, err = fmt.Fprintf(w, "%d events were sealed more than %v after they were recorded, while nothing was sealed. If a server ran at that time, compare the log with its copies.\n", r.Late, store.SealGrace)
	}
	if err == nil && r.End.Seq > 0 {
		_, err = fmt.Fprintf(w, "End of the chain: %v\n", r.End)
	}
	return err
}

// describeFault returns a fault as a sentence.
func describeFault(f *store.ChainFault) string {
	event := ""
	if f.Event.ID != "" {
		event = fmt.Sprintf(" (event %s of %s)", f.Event.ID, f.Event.At.UTC().Format(time.RFC3339Nano))
	}
	return fmt.Sprintf("The audit log was changed at seal %d%s: %s.", f.Seq, event, f.Problem)
}
