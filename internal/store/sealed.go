package store

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Cipher seals texts and binds each to its context.
type Cipher interface {
	Seal(text []byte, belongs string) []byte
	Open(sealed []byte, belongs string) ([]byte, error)
}

// isSealed distinguishes sealed states from those of an older version: the column is JSON, a
// sealed state is a string in it, and an unsealed one an object.
func isSealed(state json.RawMessage) bool { return len(state) > 0 && state[0] == '"' }

// sealState returns the stored form of a state.
func sealState(box Cipher, state json.RawMessage, belongs string) json.RawMessage {
	return stateText(box.Seal(state, belongs))
}

// stateText returns the column value of a sealed state.
func stateText(sealed []byte) json.RawMessage {
	text := make(json.RawMessage, 0, base64.StdEncoding.EncodedLen(len(sealed))+2)
	text = append(text, '"')
	text = base64.StdEncoding.AppendEncode(text, sealed)
	return append(text, '"')
}

// openState is the inverse of sealState.
func openState(box Cipher, state json.RawMessage, belongs string) (json.RawMessage, error) {
	if !isSealed(state) {
		return nil, errors.New("store: expected a state that is sealed, got one in the clear")
	}
	sealed, err := base64.StdEncoding.AppendDecode(nil, bytes.Trim(state, `"`))
	if err != nil {
		return nil, err
	}
	return box.Open(sealed, belongs)
}

// SealedRuns are the runs of a store that seals their states, so that backups do not expose user
// input, challenges or the keys of offered authenticator apps. A state is bound to its run,
// revision and node: in another row, or restored after the run has continued, it does not open.
type SealedRuns struct {
	Store *Store
	Box   Cipher
	Log   *slog.Logger // receives the states that do not open
}

// Run is Store.Run with the state opened. A state that does not open ends its run: the error
// is execution_not_found, Class Invalid, as for an expired run. An unsealed state of an older
// version is read unchanged.
func (s SealedRuns) Run(ctx context.Context, id string) (*schemas.Run, error) {
	run, err := s.Store.Run(ctx, id)
	if err != nil || !isSealed(run.State) {
		return run, err
	}
	if run.State, err = openState(s.Box, run.State, runBinding(run)); err != nil {
		s.Log.WarnContext(ctx, "a run ended, because its stored state cannot be decrypted: the key-encryption key or the database row was changed", "executionDigest", run.Digest(), "error", err)
		return nil, errNoRun()
	}
	return run, nil
}

// Commit is Store.Commit with the state sealed.
func (s SealedRuns) Commit(ctx context.Context, run *schemas.Run, changes []schemas.Change) error {
	kept := *run
	if len(run.State) > 0 {
		kept.State = sealState(s.Box, run.State, runBinding(run))
	}
	return s.Store.Commit(ctx, &kept, changes)
}

// runBinding returns the context that a run's state is bound to. No part contains a line
// break, so it is unique.
func runBinding(run *schemas.Run) string {
	return strings.Join([]string{"run", run.ID, strconv.FormatInt(run.Revision, 10), string(run.Status),
		run.FlowID, strconv.Itoa(run.FlowVersion), run.ApplicationID, run.UserID, run.Node}, "\n")
}

// SealedSessions is a store that seals passkey sessions, so that backups do not expose challenges
// and their users. A state is bound to its token, owner, ceremony and expiry: in another row it
// does not open.
type SealedSessions struct {
	*Store
	Box Cipher
	Log *slog.Logger // receives the states that do not open
}

// PutPasskeySession is Store.PutPasskeySession with the state sealed.
func (s SealedSessions) PutPasskeySession(ctx context.Context, p schemas.PasskeySession) error {
	p.State = sealState(s.Box, p.State, belongsToSession(&p))
	return s.Store.PutPasskeySession(ctx, p)
}

// TakePasskeySession is Store.TakePasskeySession with the state opened. A session whose state
// does not open is stale_session_token, Class Invalid, and consumed as well.
func (s SealedSessions) TakePasskeySession(ctx context.Context, tokenHash []byte, now time.Time) (*schemas.PasskeySession, error) {
	p, err := s.Store.TakePasskeySession(ctx, tokenHash, now)
	if err != nil {
		return nil, err
	}
	if p.State, err = openState(s.Box, p.State, belongsToSession(p)); err != nil {
		s.Log.WarnContext(ctx, "a passkey session ended, because its stored state cannot be decrypted: the key-encryption key or the database row was changed", "error", err)
		return nil, errStaleSession()
	}
	return p, nil
}

// belongsToSession returns the context that a session's state is bound to. Only the last part
// may contain a line break, so it is unique.
func belongsToSession(p *schemas.PasskeySession) string {
	return strings.Join([]string{"passkey session", hex.EncodeToString(p.TokenHash), string(p.Ceremony),
		strconv.FormatInt(toMicros(p.ExpiresAt), 10), p.Owner}, "\n")
}
