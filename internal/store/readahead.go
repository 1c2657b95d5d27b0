package store

import (
	"bytes"
	"context"
	"database/sql"
	"slices"
	"sync"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Reading ahead
//
// A request to a distant database reads some rows together with those that it needs next: a run with
// the revision of its application, a passkey with its user and their permissions, the state of a token with
// the account of its user, and what the request names: see schemas.Named. The later read takes them from the context of the request,
// which saves a round trip. They are as old as the request at most, and writes of the request discard
// them. On SQLite only requests with a passkey do.

// ahead is what a request has read ahead.
type ahead struct {
	onlyGrants bool // whether it reads ahead only for a code or a refresh token
	accounts   bool // whether it reads the account of its token
	mu         sync.Mutex
	records
	assumes bool      // whether it may assume the revision of its client: see Assume
	assumed *revision // nil for nothing, or what a write has confirmed
}

// records are what a request has read ahead. Each but the application is used once.
type records struct {
	application revision
	request     *schemas.AuthRequest // of codeHash
	codeHash    []byte
	family      *schemas.RefreshFamily
	credential  *schemas.Credential
	user        *schemas.User
	session     string    // of the user, for request or family
	permissions *[]string // of holder
	holder      string

	protection *protection           // of account
	passkeys   *[]schemas.Credential // of account
	account    string
}

// revision identifies the state of an application.
type revision struct {
	id, clientID string
	updated      time.Time
	signIn       sql.NullInt64 // the active versions of its flows; NULL if they were not read
	registration sql.NullInt64
}

const (
	selectRunAhead         = `SELECT q.*, ` + revisionAhead + ` FROM (` + selectRun + `) AS q` + joinApplication
	selectAuthRequestAhead = `SELECT q.*, ` + revisionAhead + ` FROM (` + selectAuthRequest + `) AS q` + joinApplication

	passkeyAhead = userColumns + `, ` + permissionsColumn

	selectCredentialAhead = `SELECT c.*, ` + passkeyAhead + ` FROM (` + selectCredential + `) AS c JOIN users u ON u.id = c.user_id`
	selectRunWithPasskey  = `SELECT q.*, ` + revisionAhead + `, c.*, ` + passkeyAhead + ` FROM (` + selectRun + `) AS q` + joinApplication +
		` CROSS JOIN (` + selectCredential + `) AS c JOIN users u ON u.id = c.user_id`

	// Without a session that has not ended there is no row.
	grantAhead      = `SELECT q.*, ` + changeAhead + `, s.id, ` + userColumns + ` FROM (`
	selectCodeAhead = grantAhead + selectAuthRequestByCode + `) AS q` + joinApplication +
		` JOIN sessions s ON s.id = CAST(q.granted AS JSONB) ->> 'sessionId' JOIN users u ON u.id = s.user_id`
	selectFamilyAhead = grantAhead + selectFamily + `) AS q` + joinApplication +
		` JOIN sessions s ON s.id = q.session_id JOIN users u ON u.id = s.user_id`

	// changeAhead does not include the versions of flows, which only runs need, at their start and their
	// end.
	changeAhead   = `a.id, a.client_id, a.updated_at`
	revisionAhead = changeAhead + `, (SELECT active_version FROM flows WHERE flows.id = a.auth_flow_id),
		(SELECT active_version FROM flows WHERE flows.id = a.registration_flow_id)`
	joinApplication = ` LEFT JOIN applications a ON a.id = q.application_id`
)

// destinations returns where the columns of revisionAhead are scanned to.
func (r *revision) destinations() []any {
	return append(r.changeDestinations(), &r.signIn, &r.registration)
}

// changeDestinations returns where the columns of changeAhead are scanned to.
func (r *revision) changeDestinations() []any {
	return []any{(*nullText)(&r.id), (*nullText)(&r.clientID), (*nullTime)(&r.updated)}
}

type aheadKey struct{}

// ReadAhead returns the context of a request in which the store reads ahead. On SQLite it returns ctx:
// there a query takes as long as reading ahead.
func (s *Store) ReadAhead(ctx context.Context) context.Context { return s.readAhead(ctx, &ahead{}) }

// ReadPasskeysAhead is ReadAhead for requests that may authenticate with a passkey. It is worth it on SQLite too.
func (s *Store) ReadPasskeysAhead(ctx context.Context) context.Context {
	return context.WithValue(ctx, aheadKey{}, new(ahead))
}

// ReadGrantsAhead is ReadAhead for requests that read more than their client only if they name a code or
// a refresh token. On SQLite it returns ctx.
func (s *Store) ReadGrantsAhead(ctx context.Context) context.Context {
	return s.readAhead(ctx, &ahead{onlyGrants: true})
}

// ReadAccountsAhead is ReadAhead for requests with a token whose user changes how they sign in. TokenLive
// reads this user, what protects the account, and their passkeys. On SQLite it returns ctx.
func (s *Store) ReadAccountsAhead(ctx context.Context) context.Context {
	return s.readAhead(ctx, &ahead{accounts: true})
}

func (s *Store) readAhead(ctx context.Context, a *ahead) context.Context {
	if s.local {
		return ctx
	}
	return context.WithValue(ctx, aheadKey{}, a)
}

// aheadOf returns what the request of a context has read ahead; nil if it does not.
func aheadOf(ctx context.Context) *ahead {
	a, _ := ctx.Value(aheadKey{}).(*ahead)
	return a
}

// aheadIn is aheadOf for a Reader; nil for a transaction, which reads what is current.
func aheadIn(ctx context.Context, r Reader) *ahead {
	if _, is := r.(*Store); !is {
		return nil
	}
	return aheadOf(ctx)
}

// readWithApplication reads a row by its id, in a request that reads ahead together with the revision of
// its application.
func readWithApplication[T any](ctx context.Context, s *Store, q, further, id string, destinations func(*T) []any, notFound func() error) (*T, error) {
	kept := aheadOf(ctx)
	if kept == nil || s.local {
		return readOne(s.row(ctx, q, id), func(row scanner, v *T) error { return row.Scan(destinations(v)...) }, notFound)
	}
	var of revision
	v, err := readOne(s.row(ctx, further, id), func(row scanner, v *T) error {
		return row.Scan(append(destinations(v), of.destinations()...)...)
	}, notFound)
	if err == nil {
		kept.putApplication(of)
	}
	return v, err
}

// passkeyDestinations returns where a passkey and the columns of passkeyAhead are scanned to.
func (r *records) passkeyDestinations(c *schemas.Credential) []any {
	r.user, r.permissions = new(schemas.User), new([]string)
	return slices.Concat(credentialDestinations(c), userDestinations(r.user), []any{asJSON(r.permissions)})
}

// readWithUser is readWithApplication for a passkey with its user.
func (s *Store) readWithUser(ctx context.Context, a *ahead, id schemas.Bytes) (*schemas.Credential, error) {
	if c := a.takeCredential(id); c != nil {
		return c, nil
	}
	var read records
	key := nonNilBytes(id)
	c, err := readOne(s.row(ctx, selectCredentialAhead, key), func(row scanner, c *schemas.Credential) error {
		return row.Scan(read.passkeyDestinations(c)...)
	}, errNoCredential)
	if err == nil {
		a.put(func(kept *records) { kept.user, kept.permissions, kept.holder = read.user, read.permissions, c.UserID })
	}
	return c, err
}

// readRunWithPasskey reads a run together with the passkey that the request names. It returns nil if
// one of them does not exist.
func (s *Store) readRunWithPasskey(ctx context.Context, a *ahead, id string, passkey schemas.Bytes) (*schemas.Run, error) {
	read := records{credential: new(schemas.Credential)}
	key := nonNilBytes(passkey)
	run, err := readOne(s.row(ctx, selectRunWithPasskey, id, key), func(row scanner, run *schemas.Run) error {
		return row.Scan(slices.Concat(runDestinations(run), read.application.destinations(), read.passkeyDestinations(read.credential))...)
	}, nil)
	if run != nil {
		read.holder = read.credential.UserID
		a.put(func(kept *records) { *kept = read })
	}
	return run, err
}

// readGrant reads the authorization request of the code that a request names, or the family of its
// refresh token, with the revision of the client and the user, if the session of the grant has not ended.
func (s *Store) readGrant(ctx context.Context, a *ahead, named schemas.Named) error {
	read := records{user: new(schemas.User)}
	scan := func(row scanner, grant []any) error {
		return row.Scan(slices.Concat(grant, read.application.changeDestinations(), []any{&read.session}, userDestinations(read.user))...)
	}
	var err error
	switch {
	case named.CodeHash != nil:
		read.codeHash = named.CodeHash
		read.request, err = readOne(s.row(ctx, selectCodeAhead, named.CodeHash),
			func(row scanner, r *schemas.AuthRequest) error { return scan(row, authRequestDestinations(r)) }, nil)
	case named.Family != "":
		read.family, err = readOne(s.row(ctx, selectFamilyAhead, named.Family),
			func(row scanner, f *schemas.RefreshFamily) error { return scan(row, familyDestinations(f)) }, nil)
	}
	if read.session != "" {
		a.put(func(kept *records) { *kept = read })
	}
	return err
}

// selectTokenAccount returns a row for each passkey, and one if there is none. Without a session that has
// not ended there is no row.
const selectTokenAccount = selectTokenLive + `, ` + userColumns + `,
	` + protectionColumns + `, c.*
	FROM sessions s JOIN users u ON u.id = s.user_id LEFT JOIN (SELECT ` + credentialColumns + ` FROM credentials) AS c ON c.user_id = u.id
	WHERE s.id = ? ORDER BY c.created_at, c.id`

// readTokenAccount reports whether a valid token is live, and keeps the account of its user. It returns
// false if its session has ended, and for a token without one.
func (s *Store) readTokenAccount(ctx context.Context, a *ahead, t schemas.TokenRef) (live bool, err error) {
	read := records{user: new(schemas.User), protection: new(protection), passkeys: new([]schemas.Credential)}
	account := slices.Concat([]any{&live}, userDestinations(read.user), read.protection.destinations())
	var id []byte
	none := append([]any{&id}, slices.Repeat([]any{new(any)}, len(credentialDestinations(new(schemas.Credential)))-1)...)
	err = rows(ctx, s, func(row scanner) error {
		if err := row.Scan(append(slices.Clip(account), none...)...); err != nil || id == nil {
			return err
		}
		*read.passkeys = append(*read.passkeys, schemas.Credential{})
		c := &(*read.passkeys)[len(*read.passkeys)-1]
		return row.Scan(append(slices.Clip(account), credentialDestinations(c)...)...)
	}, selectTokenAccount, append(tokenKey(t), t.Session)...)
	if err == nil && live {
		read.account = read.user.ID
		a.put(func(kept *records) { *kept = read })
	}
	return live && err == nil, err
}

// discard is called before a write.
func (a *ahead) discard() {
	if a == nil {
		return
	}
	a.put(func(kept *records) { *kept = records{} })
}

// put changes what is kept.
func (a *ahead) put(change func(*records)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.records)
}

func (a *ahead) putApplication(r revision) {
	if a == nil || r.id == "" {
		return
	}
	a.put(func(kept *records) { kept.application = r })
}

// takeApplication returns the revision of an application for which matches returns true.
func (a *ahead) takeApplication(matches func(revision) bool) (r revision, found bool) {
	if a == nil {
		return r, false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.application, a.application.id != "" && matches(a.application)
}

// takeRecord returns a record that is kept, and discards it. It returns nil if there is none for which matches
// returns true.
func takeRecord[T any](a *ahead, of func(*records) **T, matches func(*records) bool) *T {
	if a == nil {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	kept := of(&a.records)
	if *kept == nil || !matches(&a.records) {
		return nil
	}
	v := *kept
	*kept = nil
	return v
}

func (a *ahead) takeUser(id string) *schemas.User {
	return takeRecord(a, func(r *records) **schemas.User { return &r.user }, func(r *records) bool { return r.user.ID == id })
}

func (a *ahead) takeSessionUser(session, id string) *schemas.User {
	return takeRecord(a, func(r *records) **schemas.User { return &r.user },
		func(r *records) bool { return r.session == session && r.user.ID == id })
}

func (a *ahead) takeCredential(id schemas.Bytes) *schemas.Credential {
	return takeRecord(a, func(r *records) **schemas.Credential { return &r.credential },
		func(r *records) bool { return bytes.Equal(r.credential.ID, id) })
}

func (a *ahead) takePermissions(userID string) *[]string {
	return takeRecord(a, func(r *records) **[]string { return &r.permissions }, func(r *records) bool { return r.holder == userID })
}

func (a *ahead) takeAuthRequest(codeHash []byte) *schemas.AuthRequest {
	return takeRecord(a, func(r *records) **schemas.AuthRequest { return &r.request },
		func(r *records) bool { return bytes.Equal(r.codeHash, codeHash) })
}

func (a *ahead) takeFamily(id string) *schemas.RefreshFamily {
	return takeRecord(a, func(r *records) **schemas.RefreshFamily { return &r.family }, func(r *records) bool { return r.family.ID == id })
}

func (a *ahead) takeProtection(userID string) *protection {
	return takeRecord(a, func(r *records) **protection { return &r.protection }, func(r *records) bool { return r.account == userID })
}

func (a *ahead) takePasskeys(userID string) *[]schemas.Credential {
	return takeRecord(a, func(r *records) **[]schemas.Credential { return &r.passkeys }, func(r *records) bool { return r.account == userID })
}
