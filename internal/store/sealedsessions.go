package store

import (
	"context"
	"encoding/hex"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// SealedSessions is a store whose database holds passkey sessions sealed, so that backups do
// not expose challenges and their users. A state is bound to its token, owner, ceremony and
// expiry: in another row it does not open.
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
		s.Log.WarnContext(ctx, "the state of a passkey session does not open, so it is over: the key has changed, or the row has", "error", err)
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
