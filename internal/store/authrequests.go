package store

import (
	"context"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

const (
	authRequestColumns = `id, application_id, client_id, redirect_uri, response_mode, state, nonce, scopes, resources,
		code_challenge, login_hint, login, browser_hash, granted, refused, approved, created_at, expires_at`

	insertAuthRequest = `INSERT INTO auth_requests (` + authRequestColumns + `)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, NULL, NULL, NULL, ?, ?)`

	selectAuthRequest       = `SELECT ` + authRequestColumns + ` FROM auth_requests WHERE id = ?`
	selectAuthRequestByCode = `SELECT ` + authRequestColumns + ` FROM auth_requests WHERE code_hash = ?`

	selectOpen = `SELECT 1 FROM auth_requests WHERE id = ? AND granted IS NULL AND refused IS NULL AND expires_at > ?`

	// PostgreSQL evaluates the condition again on the row it writes, so only one of several
	// concurrent grants succeeds.
	updateGrant    = `UPDATE auth_requests SET granted = ? WHERE id = ? AND browser_hash = ? AND granted IS NULL AND refused IS NULL AND expires_at > ?`
	updateApproval = `UPDATE auth_requests SET approved = ? WHERE id = ? AND browser_hash = ? AND granted IS NULL AND refused IS NULL AND expires_at > ?`
	updateRefusal  = `UPDATE auth_requests SET refused = ? WHERE id = ? AND browser_hash = ? AND granted IS NULL AND refused IS NULL AND expires_at > ?`

	updateCode = `UPDATE auth_requests SET code_hash = ?, code_expires_at = ?, expires_at = ?
		WHERE id = ? AND browser_hash = ? AND granted IS NOT NULL AND code_hash IS NULL AND expires_at > ? RETURNING ` + authRequestColumns

	// On PostgreSQL a code is one statement, and read ahead. A plan for the values of scalar subqueries uses
	// indexes, also if it was made when the tables were empty.
	updateCodeAhead    = `WITH q AS (` + updateCode + `) SELECT q.*, ` + changeAhead + `, FALSE FROM q` + joinApplicationOfQ
	joinApplicationOfQ = ` LEFT JOIN applications a ON a.id = (SELECT application_id FROM q)`
	// The session of an assertion does not get a token: see Grant.ByAssertion. It is of this browser, where a
	// sign-out ends it.
	updateCodeAndToken = `WITH q AS (` + updateCode + `), bound AS (UPDATE sessions
		SET token_hash = (SELECT CASE WHEN CAST(granted AS JSONB) ->> 'byAssertion' IS NULL THEN CAST(? AS BYTEA) END FROM q), token_expires_at = expires_at, browser = ?
		WHERE id = (SELECT CAST(granted AS JSONB) ->> 'sessionId' FROM q) AND token_hash IS NULL RETURNING token_hash)
		SELECT q.*, ` + changeAhead + `, EXISTS (SELECT 1 FROM bound WHERE token_hash IS NOT NULL) FROM q` + joinApplicationOfQ

	// The row stays as long as the tokens issued for the code, so that a replay can revoke
	// them. The client has received the state, and the ID token contains the nonce; nothing else reads these columns.
	updateRedeemed = `UPDATE auth_requests SET redeemed_at = ?, state = '', nonce = '', login_hint = '', expires_at = CASE WHEN expires_at < ? THEN ? ELSE expires_at END
		WHERE code_hash = ? AND redeemed_at IS NULL AND code_expires_at > ?`

	selectRedeemed = `SELECT id FROM auth_requests WHERE code_hash = ? AND redeemed_at IS NOT NULL`
)

// codeLeeway is how long a code that is not redeemed stays stored after it expires, with the state, the nonce and
// the login hint: the clocks of instances may differ. The row of a redeemed code stays longer: see updateRedeemed.
const codeLeeway = time.Minute

// createAuthRequest stores an authorization request. Its client must exist.
func (t *Tx) createAuthRequest(r schemas.AuthRequest) error {
	err := t.later(insertAuthRequest, r.ID, r.ApplicationID, r.ClientID, r.RedirectURI, r.ResponseMode, r.State,
		r.Nonce, (*lines)(&r.Scopes), (*lines)(&r.Resources), r.CodeChallenge, r.LoginHint, asJSON(r.Login),
		nonNilBytes(r.BrowserHash), toMicros(r.CreatedAt), toMicros(r.ExpiresAt))
	if isForeignKeyViolation(err) {
		return errNoApplication(r.ApplicationID)
	}
	return err
}

// AuthRequest returns an authorization request, including an expired one that is still stored.
// An unknown one is auth_request_not_found, Class Invalid.
func (s *Store) AuthRequest(ctx context.Context, id string) (*schemas.AuthRequest, error) {
	return readWithApplication(ctx, s, selectAuthRequest, selectAuthRequestAhead, id, authRequestDestinations, errNoAuthRequest)
}

// AuthRequestByCode returns the authorization request that was answered with the code, given
// by its hash, redeemed or not. An unknown one is auth_code_not_found, Class Invalid.
func (s *Store) AuthRequestByCode(ctx context.Context, codeHash []byte) (*schemas.AuthRequest, error) {
	if r := aheadOf(ctx).takeAuthRequest(codeHash); r != nil {
		return r, nil
	}
	return readOne(s.row(ctx, selectAuthRequestByCode, nonNilBytes(codeHash)), scanAuthRequest, errNoCode)
}

func errNoAuthRequest() error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeAuthRequest,
		"there is no such authorization request, or it has expired or been answered; go back to the application and sign in again")
}

func errNoCode() error {
	return schemas.Errorf(schemas.Invalid, schemas.CodeAuthCodeNotFound, "there is no such authorization code, or it has expired")
}

func scanAuthRequest(row scanner, r *schemas.AuthRequest) error {
	return row.Scan(authRequestDestinations(r)...)
}

func authRequestDestinations(r *schemas.AuthRequest) []any {
	return []any{&r.ID, &r.ApplicationID, &r.ClientID, &r.RedirectURI, &r.ResponseMode, &r.State, &r.Nonce,
		(*lines)(&r.Scopes), (*lines)(&r.Resources), &r.CodeChallenge, &r.LoginHint, asJSON(&r.Login), &r.BrowserHash,
		asJSON(&r.Grant), asJSON(&r.Refusal), asJSON(&r.Approval), (*microTime)(&r.CreatedAt), (*microTime)(&r.ExpiresAt)}
}

// grantAuthRequest reports a request that is not open, but not whether it was granted before:
// see schemas.GrantAuthRequest. A session that ends right after the grant ends what was
// granted in it: see joinSession.
func (t *Tx) grantAuthRequest(c schemas.GrantAuthRequest) error {
	live, err := t.hasProof(c.Grant.UserID, schemas.Proof{Kind: schemas.SessionProof, Of: c.Grant.SessionID})
	if err != nil {
		return err
	}
	if !live {
		return schemas.ErrSuperseded()
	}
	return t.decideAuthRequest(updateGrant, c.ID, c.BrowserHash, c.At, c.Grant)
}

// decideAuthRequest writes the decision on a request if the request is still open and the
// browser is its own.
func (t *Tx) decideAuthRequest(update, id string, browserHash []byte, at time.Time, decision any) error {
	if t.inBatch() {
		return t.batch.require(update, asJSON(decision), id, nonNilBytes(browserHash), toMicros(at))
	}
	n, err := t.exec(update, asJSON(decision), id, nonNilBytes(browserHash), toMicros(at))
	if err != nil || n == 1 {
		return err
	}
	open, err := exists(t.ctx, t, selectOpen, id, toMicros(at)) // in another browser
	if err == nil && !open {
		err = errNoAuthRequest()
	}
	return err
}

// IssueCode answers a granted authorization request of a browser once, and returns it. It gives the session
// of the grant the token of the browser like BindSession, or only its name if the grant is by an assertion. A request that is
// not granted, of another browser or already answered is auth_request_not_found.
func (s *Store) IssueCode(ctx context.Context, c schemas.IssuedCode) (r *schemas.AuthRequest, bound bool, err error) {
	args := []any{nonNilBytes(c.CodeHash), toMicros(c.Expires), toMicros(c.Expires.Add(codeLeeway)), c.RequestID, nonNilBytes(c.BrowserHash), toMicros(c.At)}
	if slices.ContainsFunc(args, isUnstorable) {
		return nil, false, errNoAuthRequest()
	}
	if !s.local {
		return s.issueCodeAhead(ctx, c.Token, args)
	}
	err = s.writer.write(ctx, func(t *Tx) (err error) {
		bound = false
		if r, err = readOne(t.row(updateCode, args...), scanAuthRequest, errNoAuthRequest); err != nil || c.Token == nil {
			return err
		}
		token := schemas.SessionToken{SessionID: r.Grant.SessionID, Hash: c.Token.Hash, Browser: c.Token.Browser}
		if r.Grant.ByAssertion {
			_, err = t.exec(nameBrowser, token.Browser, token.SessionID)
			return err
		}
		bound, err = t.bindSession(token)
		return err
	})
	return r, bound && err == nil, err
}

// issueCodeAhead is IssueCode as one statement, which reads the client ahead.
func (s *Store) issueCodeAhead(ctx context.Context, token *schemas.SessionToken, args []any) (r *schemas.AuthRequest, bound bool, err error) {
	q := updateCodeAhead
	if token != nil {
		q, args = updateCodeAndToken, append(args, nonNilBytes(token.Hash), token.Browser)
	}
	var of revision
	err = s.writer.single(ctx, func(t *Tx) (err error) {
		r, err = readOne(t.row(q, args...), func(row scanner, r *schemas.AuthRequest) error {
			return row.Scan(slices.Concat(authRequestDestinations(r), of.changeDestinations(), []any{&bound})...)
		}, errNoAuthRequest)
		return err
	})
	if err == nil {
		aheadOf(ctx).putApplication(of)
	}
	return r, bound && err == nil, err
}

// RedeemCode redeems a code. One of several concurrent calls succeeds; each of the others sets
// replayed and revokes all tokens issued for the code (RFC 9700 §4.5). The revocation is stored until
// r.Revoke. A code that is unknown or expired, or whose session has ended, is auth_code_not_found. The
// session records that the client received tokens in it.
func (s *Store) RedeemCode(ctx context.Context, r schemas.Redemption) (replayed bool, err error) {
	var lasts time.Time // 0: as long as the session does
	offline := r.Family != nil && r.Family.SessionID == r.Family.ID
	if r.Family != nil && !offline {
		lasts = r.Family.ExpiresAt
	}
	err = s.writer.write(ctx, func(t *Tx) (err error) {
		if replayed, err = t.useCode(r); replayed || err != nil {
			return err
		}
		if err := t.joinSession(r.SessionID, r.ApplicationID, lasts); err != nil {
			return err
		}
		if offline {
			err = t.createOfflineSession(r.Family)
		}
		if err == nil && r.Family != nil {
			err = t.createFamily(r.Family)
		}
		if err == nil && r.Event != nil {
			err = t.recordEvent(*r.Event)
		}
		return err
	})
	return replayed, err
}

// useCode uses a code up, or revokes what was issued for it if it was used before.
func (t *Tx) useCode(r schemas.Redemption) (replayed bool, err error) {
	args := []any{toMicros(r.At), toMicros(r.Revoke), toMicros(r.Revoke), nonNilBytes(r.CodeHash), toMicros(r.At)}
	if t.inBatch() {
		return false, t.batch.require(updateRedeemed, args...)
	}
	if n, err := t.exec(updateRedeemed, args...); err != nil || n > 0 {
		return false, err
	}
	return t.replay(r.CodeHash, r.Revoke)
}

func (t *Tx) replay(codeHash []byte, revoke time.Time) (bool, error) {
	id, err := readOne(t.row(selectRedeemed, nonNilBytes(codeHash)), scanValue[string], errNoCode)
	if err != nil {
		return false, err
	}
	return true, t.revokeFamily(*id, revoke)
}
