package main

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// The model of the simulation: what a user's sessions and tokens may be, written from the
// documentation (docs/oauth.md) and not from the code. Times are durations since the beginning of
// the simulation, and intervals where the moment is uncertain.

// span is an uncertain moment.
type span struct{ Min, Max time.Duration }

func (s span) add(d time.Duration) span { return span{s.Min + d, s.Max + d} }

// later returns the later of two uncertain moments.
func (s span) later(o span) span { return span{max(s.Min, o.Min), max(s.Max, o.Max)} }

// The periods of the documentation.
const (
	simCodeTTL    = time.Minute
	simAccessTTL  = time.Hour
	simSessionTTL = 12 * time.Hour
	simRefreshTTL = 30 * 24 * time.Hour
	simWindow     = 10 * time.Second
	simReplay     = 59 * time.Minute // for this long a replay is certain to be recognized
)

// account is the state of a user, or of the client, whose secret is the password.
type account struct {
	Password int
	Disabled bool
	Role     bool
	Sessions []modelSession
	Grants   []modelGrant
	Runs     []int // that have completed in this round
}

type modelSession struct {
	ID    int
	Ended bool
	Until span
	// Cookie is when the browser's cookie expires. Tokens prolong the session, but not the cookie.
	Cookie span
	// Old is whether the client's tokens were revoked since the session began.
	Old bool
	// Joined is whether the client got tokens in it, and must be notified of its end.
	Joined bool
}

type modelGrant struct {
	ID, Session       int
	Issued            span
	Redeemed, Revoked bool
	Refresh           int // the generation of the refresh token
	Rotated, Until    span
	Tokens            []modelToken
}

type modelToken struct {
	ID      int
	Revoked bool
	Until   span
	Scoped  bool // whether it carries the permission
}

// act is a request and its reply.
type act struct {
	Kind                       string
	Session, Grant, Token, Run int
	N                          int // the password or the generation that was sent
	Off, Lost                  bool
	Strict                     bool // whether a refusal needs a reason
	Result                     string
	Got                        int  // the generation of the received refresh token
	Scoped                     bool // whether the received token carries the permission
	At                         span
}

// The results of a request: its success, its refusal, no permission, and no reply or one of 5xx,
// which leaves open whether it took effect.
const (
	done      = "done"
	refused   = "refused"
	forbidden = "forbidden"
	unknown   = "unknown"
)

func (c act) String() string {
	text := c.Kind
	for _, f := range []struct {
		name  string
		value int
	}{{"session", c.Session}, {"grant", c.Grant}, {"token", c.Token}, {"run", c.Run}, {"n", c.N}, {"got", c.Got}} {
		if f.value != 0 {
			text += fmt.Sprintf(" %s=%d", f.name, f.value)
		}
	}
	if c.Off {
		text += " off"
	}
	return text + " -> " + c.Result
}

// accountKey identifies equal accounts. Simulations spend much time in it, so it does not use fmt.
func accountKey(a account) string {
	b := make([]byte, 0, 512)
	number := func(list ...int) {
		for _, n := range list {
			b = binary.AppendVarint(b, int64(n))
		}
	}
	flag := func(list ...bool) {
		for _, is := range list {
			b = strconv.AppendBool(b, is)
		}
	}
	between := func(list ...span) {
		for _, s := range list {
			number(int(s.Min), int(s.Max))
		}
	}
	number(a.Password, len(a.Sessions), len(a.Grants))
	number(a.Runs...)
	flag(a.Disabled, a.Role)
	for _, s := range a.Sessions {
		number(s.ID)
		flag(s.Ended, s.Old, s.Joined)
		between(s.Until, s.Cookie)
	}
	for _, g := range a.Grants {
		number(g.ID, g.Session, g.Refresh, len(g.Tokens))
		flag(g.Redeemed, g.Revoked)
		between(g.Issued, g.Rotated, g.Until)
		for _, t := range g.Tokens {
			number(t.ID)
			flag(t.Revoked, t.Scoped)
			between(t.Until)
		}
	}
	return string(b)
}

// step returns the states in which an act can leave an account.
func step(a account, c act) []account {
	effects := map[string]func(account, act) []account{
		"sign-in": signIn, "callback": callback, "silent": silent, "redeem": redeem, "refresh": refresh, "use": use, "list": list,
		"introspect": introspect, "revoke": revoke, "revoke-access": revokeAccess, "logout": logout, "end-sessions": endSessions,
		"put": put, "new-generation": newGeneration, "assign": assign, "authenticate": authenticate,
	}[c.Kind]
	if effects == nil {
		panic("no model of " + c.Kind)
	}
	var after []account
	if c.Result != unknown {
		after = effects(a, c)
	} else {
		after, c.Lost = []account{a}, true
		for _, c.Result = range []string{done, refused} {
			after = append(after, effects(a, c)...)
		}
	}
	for i := range after {
		after[i].simplify()
	}
	return after
}

// simplify removes what makes no difference any more, so that fewer states differ.
func (a *account) simplify() {
	*a = a.clone()
	slices.SortFunc(a.Sessions, func(a, b modelSession) int { return a.ID - b.ID })
	slices.SortFunc(a.Grants, func(a, b modelGrant) int { return a.ID - b.ID })
	slices.Sort(a.Runs)
	for i, s := range a.Sessions {
		if s.Ended {
			a.Sessions[i] = modelSession{ID: s.ID, Ended: true, Joined: s.Joined}
		}
	}
	for i, g := range a.Grants {
		if g.Revoked || a.session(g.Session).Ended {
			a.Grants[i] = modelGrant{ID: g.ID, Session: g.Session, Revoked: true}
			continue
		}
		for k, t := range g.Tokens {
			if t.Revoked {
				g.Tokens[k] = modelToken{ID: t.ID, Revoked: true}
			}
		}
	}
}

// only returns the account as the one state if the condition holds.
func only(a account, holds bool) []account {
	if holds {
		return []account{a}
	}
	return nil
}

// clone copies what change may change.
func (a account) clone() account {
	a.Sessions, a.Grants, a.Runs = slices.Clone(a.Sessions), slices.Clone(a.Grants), slices.Clone(a.Runs)
	for i := range a.Grants {
		a.Grants[i].Tokens = slices.Clone(a.Grants[i].Tokens)
	}
	return a
}

func (a *account) session(id int) *modelSession {
	at := slices.IndexFunc(a.Sessions, func(s modelSession) bool { return s.ID == id })
	if at < 0 {
		return &modelSession{Ended: true}
	}
	return &a.Sessions[at]
}

func (a *account) grant(id int) *modelGrant {
	at := slices.IndexFunc(a.Grants, func(g modelGrant) bool { return g.ID == id })
	if at < 0 {
		return &modelGrant{Revoked: true}
	}
	return &a.Grants[at]
}

func (g *modelGrant) token(id int) *modelToken {
	at := slices.IndexFunc(g.Tokens, func(t modelToken) bool { return t.ID == id })
	if at < 0 {
		return &modelToken{Revoked: true}
	}
	return &g.Tokens[at]
}

// mayLive and mayHaveEnded report whether a session may be live, and may have ended, at an act.
func (s *modelSession) mayLive(c act) bool      { return !s.Ended && c.At.Min <= s.Until.Max }
func (s *modelSession) mayHaveEnded(c act) bool { return s.Ended || c.At.Max >= s.Until.Min }

// end ends a session. The client is not notified of one that has expired.
func (s *modelSession) end(c act) {
	if !s.Ended {
		s.Joined = s.Joined && !s.mayHaveEnded(c)
		s.Ended = true
	}
}

func (a *account) grantMayLive(g *modelGrant, c act) bool {
	return a.session(g.Session).mayLive(c) && !g.Revoked
}

func (a *account) grantMayHaveEnded(g *modelGrant, c act) bool {
	return a.session(g.Session).mayHaveEnded(c) || g.Revoked
}

func signIn(a account, c act) []account {
	fits := !a.Disabled && c.N == a.Password && !slices.Contains(a.Runs, c.Run)
	if c.Result == refused {
		return only(a, !c.Strict || !fits)
	}
	a = a.clone()
	a.Runs = append(a.Runs, c.Run)
	if !c.Lost { // otherwise no client can use the session
		a.Sessions = append(a.Sessions, modelSession{ID: c.Session, Until: c.At.add(simSessionTTL), Cookie: c.At.add(simSessionTTL)})
	}
	return only(a, fits)
}

// callback issues the code of a completed run. The session may have ended since.
func callback(a account, c act) []account {
	return a.issued(c, a.session(c.Session).Old)
}

// issued returns the account with a code, unless the request was refused, or no client knows the code.
func (a account) issued(c act, dead bool) []account {
	if c.Result == refused || c.Lost {
		return []account{a}
	}
	a = a.clone()
	a.Grants = append(a.Grants, modelGrant{ID: c.Grant, Session: c.Session, Issued: c.At, Revoked: dead})
	return []account{a}
}

// silent is an authorization request with prompt=none.
func silent(a account, c act) []account {
	s := a.session(c.Session)
	if c.Result == refused {
		return only(a, s.mayHaveEnded(c) || c.At.Max >= s.Cookie.Min)
	}
	if !s.mayLive(c) || c.At.Min > s.Cookie.Max {
		return nil
	}
	return a.issued(c, false)
}

func redeem(a account, c act) []account {
	g := a.grant(c.Grant)
	switch {
	case c.Result == refused && !g.Redeemed:
		return only(a, a.grantMayHaveEnded(g, c) || g.Revoked || c.At.Max >= g.Issued.Min+simCodeTTL)
	case c.Result == refused: // a replay
		after := []account{a}
		if !a.grantMayHaveEnded(g, c) && !g.Revoked && c.At.Max < g.Issued.Min+simReplay {
			after = nil
		}
		return append(after, a.revoked(c.Grant))
	case g.Redeemed || g.Revoked || !a.grantMayLive(g, c) || c.At.Min > g.Issued.Max+simCodeTTL:
		return nil
	}
	a = a.clone()
	g = a.grant(c.Grant)
	g.Redeemed, g.Rotated, g.Until = true, c.At, c.At.add(simRefreshTTL)
	g.addToken(c)
	s := a.session(g.Session)
	s.Joined, s.Until = true, s.Until.later(g.Until)
	return []account{a}
}

func (g *modelGrant) addToken(c act) {
	if c.Token > 0 {
		g.Tokens = append(g.Tokens, modelToken{ID: c.Token, Until: c.At.add(simAccessTTL), Scoped: c.Scoped})
	}
}

// revoked returns the account without the tokens of a grant.
func (a account) revoked(grant int) account {
	a = a.clone()
	a.grant(grant).Revoked = true
	return a
}

func refresh(a account, c act) []account {
	g := a.grant(c.Grant)
	previous := c.N == g.Refresh-1
	if c.Result == refused {
		return refusedRefresh(a, g, c)
	}
	current := c.N == g.Refresh
	again := previous && c.At.Min < g.Rotated.Max+simWindow
	if g.Revoked || !g.Redeemed || !a.grantMayLive(g, c) || c.At.Min > g.Until.Max || !current && !again || c.Got != 0 && c.Got != c.N+1 {
		return nil
	}
	a = a.clone()
	g = a.grant(c.Grant)
	if current {
		g.Refresh, g.Rotated = g.Refresh+1, c.At
	}
	g.addToken(c)
	return []account{a}
}

// refusedRefresh is a refusal, which revokes the tokens if an old refresh token was used again.
func refusedRefresh(a account, g *modelGrant, c act) []account {
	ended := a.grantMayHaveEnded(g, c) || g.Revoked || !g.Redeemed || c.At.Max >= g.Until.Min
	late := c.At.Max >= g.Rotated.Min+simWindow
	reused := c.N < g.Refresh-1 || c.N == g.Refresh-1 && late
	after := only(a, ended || c.N > g.Refresh)
	if reused {
		after = append(after, a.revoked(c.Grant))
	}
	return after
}

func use(a account, c act) []account {
	g := a.grant(c.Grant)
	t := g.token(c.Token)
	if c.Result == refused {
		return only(a, a.grantMayHaveEnded(g, c) || g.Revoked || t.Revoked || c.At.Max >= t.Until.Min)
	}
	return only(a, a.grantMayLive(g, c) && !g.Revoked && !t.Revoked && c.At.Min <= t.Until.Max)
}

// list is a request that needs a permission.
func list(a account, c act) []account {
	scoped := a.grant(c.Grant).token(c.Token).Scoped
	switch c.Result {
	case refused: // a token without the permission is not for the API
		if !scoped {
			return []account{a}
		}
		return use(a, c)
	case forbidden:
		return only(a, !a.Role)
	}
	if !scoped || !a.Role {
		return nil
	}
	return use(a, c)
}

// introspect describes a refresh token.
func introspect(a account, c act) []account {
	g := a.grant(c.Grant)
	if c.Result == refused {
		return only(a, a.grantMayHaveEnded(g, c) || g.Revoked || c.N != g.Refresh || c.At.Max >= g.Until.Min)
	}
	return only(a, a.grantMayLive(g, c) && !g.Revoked && c.N <= g.Refresh && c.At.Min <= g.Until.Max)
}

func revoke(a account, c act) []account {
	return only(a.revoked(c.Grant), c.Result == done)
}

func revokeAccess(a account, c act) []account {
	a = a.clone()
	a.grant(c.Grant).token(c.Token).Revoked = true
	return only(a, c.Result == done)
}

func logout(a account, c act) []account {
	if c.Result == refused { // the ID token may be too old
		return []account{a}
	}
	a = a.clone()
	a.session(c.Session).end(c)
	return []account{a}
}

func endSessions(a account, c act) []account {
	if c.Result == refused {
		return nil
	}
	a = a.clone()
	for i := range a.Sessions {
		a.Sessions[i].end(c)
	}
	return []account{a}
}

// put replaces the user: with a password if N is not 0, and disabled if it is off.
func put(a account, c act) []account {
	if c.Result == refused {
		return nil
	}
	if c.N != 0 || c.Off {
		a = endSessions(a, c)[0]
	}
	if c.N != 0 {
		a.Password = c.N
	}
	a.Disabled = c.Off
	return []account{a}
}

// newGeneration ends all tokens of the client.
func newGeneration(a account, c act) []account {
	a = a.clone()
	for i := range a.Sessions {
		a.Sessions[i].Old = true
	}
	for i := range a.Grants {
		a.Grants[i].Revoked = true
	}
	if c.N != 0 {
		a.Password = c.N
	}
	return only(a, c.Result == done)
}

func assign(a account, c act) []account {
	a.Role = !c.Off
	return only(a, c.Result == done)
}

// authenticate is an authentication of the client with its secret.
func authenticate(a account, c act) []account {
	return only(a, (c.N == a.Password) == (c.Result == done))
}
