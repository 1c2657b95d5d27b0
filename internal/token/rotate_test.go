package token

import (
	"crypto/ecdsa"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// watch is a clock that tests move.
type watch struct{ offset atomic.Int64 }

func (w *watch) now() time.Time { return noon().Add(time.Duration(w.offset.Load())) }

func (w *watch) pass(d time.Duration) { w.offset.Add(int64(d)) }

// newInstance is an issuer that rotates its keys daily, each published an hour before.
func newInstance(t testing.TB, keys Keys, w *watch) *Issuer {
	t.Helper()
	return newIssuerWith(t, keys, Options{Now: w.now, KeyPublish: time.Hour, KeyAge: 24 * time.Hour})
}

func tend(t testing.TB, i *Issuer) {
	t.Helper()
	if err := i.MaintainKeys(t.Context()); err != nil {
		t.Error(err)
	}
}

// statuses are those of an algorithm's keys, oldest first.
func statuses(i *Issuer, algorithm string) (list []schemas.KeyStatus) {
	for _, k := range i.SigningKeys() {
		if k.Algorithm == algorithm {
			list = append(list, k.Status)
		}
	}
	return list
}

func TestRotationByAge(t *testing.T) {
	keys, w := &ring{}, &watch{}
	i := newInstance(t, keys, w)
	const published, signing, retired = schemas.KeyPublished, schemas.KeySigning, schemas.KeyRetired
	for n, step := range []struct {
		after time.Duration
		want  []schemas.KeyStatus
	}{
		{0, []schemas.KeyStatus{signing}},
		{23*time.Hour - 1, []schemas.KeyStatus{signing}},
		{1, []schemas.KeyStatus{signing, published}},
		{time.Hour - 1, []schemas.KeyStatus{signing, published}},
		{1, []schemas.KeyStatus{retired, signing}},
		{0, []schemas.KeyStatus{signing}}, // the retired key has signed nothing
		{23 * time.Hour, []schemas.KeyStatus{signing, published}},
		{100 * time.Hour, []schemas.KeyStatus{retired, signing}}, // after a long downtime
	} {
		w.pass(step.after)
		if err := i.Reload(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, algorithm := range algorithms() {
			if err := i.advance(t.Context(), algorithm); err != nil {
				t.Fatal(err)
			}
			if got := statuses(i, algorithm); !slices.Equal(got, step.want) {
				t.Errorf("step %d: the keys of %s are %v, expected %v", n, algorithm, got, step.want)
			}
		}
		if step.want[0] == retired && n < 5 {
			if err := i.removeRetired(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestOneInstanceTakesEachStep makes the same transition due on many instances.
func TestOneInstanceTakesEachStep(t *testing.T) {
	keys, w := &ring{}, &watch{}
	instances := make([]*Issuer, 4)
	for n := range instances {
		instances[n] = newInstance(t, keys, w)
	}
	together := func() {
		var done sync.WaitGroup
		for _, i := range instances {
			done.Go(func() { tend(t, i) })
		}
		done.Wait()
	}
	together() // creates the key for RS256
	w.pass(23 * time.Hour)
	together()
	w.pass(time.Hour)
	together()
	together() // makes what the instances left over, being busy with the first
	for action, want := range map[string]int{"signing-key.published": 2, "signing-key.promoted": 2, "signing-key.removed": 2} {
		if got := keys.count(action); got != want {
			t.Errorf("%d events %s, expected %d", got, action, want)
		}
	}
	if len(keys.keys) != 2 {
		t.Errorf("there are %d keys, expected one of each algorithm", len(keys.keys))
	}
}

func TestRotateByCommand(t *testing.T) {
	keys, w := &ring{}, &watch{}
	server, command := newInstance(t, keys, w), newInstance(t, keys, w)
	for range 2 { // repeated runs change nothing
		if err := command.Rotate(t.Context(), false, schemas.Event{}); err != nil {
			t.Fatal(err)
		}
	}
	if want := []schemas.KeyStatus{schemas.KeySigning, schemas.KeyPublished}; !slices.Equal(statuses(command, ES256), want) || !slices.Equal(statuses(command, RS256), want) {
		t.Fatalf("the keys are %v", command.SigningKeys())
	}
	tend(t, server)
	next := server.set().keysOf(ES256).published
	if next == nil || !server.SignsFrom(*next).Equal(w.now().Add(time.Hour)) {
		t.Fatalf("the next key is %+v", next)
	}
	if err := command.Rotate(t.Context(), true, schemas.Event{}); err != nil {
		t.Fatal(err)
	}
	if signing := command.set().keysOf(ES256).signing; signing == nil || signing.ID != next.ID {
		t.Errorf("the key that signs is %+v, expected the one that was published", signing)
	}
}

// published reports whether relying parties find a key.
func published(t testing.TB, i *Issuer, kid string) bool {
	t.Helper()
	var set jose.JSONWebKeySet
	datatest.Unmarshal(t, i.JWKS(), &set)
	return len(set.Key(kid)) == 1
}

// A published key is accepted, because it may already sign on another instance.
func TestPublishedKeyIsAccepted(t *testing.T) {
	keys, w := &ring{}, &watch{}
	i := newInstance(t, keys, w)
	if err := i.Rotate(t.Context(), false, schemas.Event{}); err != nil {
		t.Fatal(err)
	}
	next := i.set().signers[i.set().keysOf(ES256).published.ID]
	if next == i.set().signing[ES256] {
		t.Fatal("the published key signs")
	}
	f := &forge{t: t, i: i, typ: AccessType}
	var err error
	if f.valid, err = i.Access(t.Context(), newAccess()); err != nil {
		t.Fatal(err)
	}
	raw := f.sign(next.private.(*ecdsa.PrivateKey), next.headers[AccessType], f.json(f.claims(nil)))
	if _, err := i.Verify(t.Context(), raw, base); err != nil {
		t.Errorf("refused: %v", err)
	}
	if !published(t, i, next.id) {
		t.Error("it is not among the published keys")
	}
}

// Tokens of a retired key are valid until they expire, and the key is published until then.
// Afterwards it is removed, and nothing it signed is accepted.
func TestRetiredKey(t *testing.T) {
	keys, w := &ring{}, &watch{}
	i := newInstance(t, keys, w)
	tend(t, i)
	access := newAccess()
	access.Validity = 300 * time.Hour
	raw := issueAccess(t, i, access)
	hint := idToken(t, i, nil)
	es, rs := i.set().signing[ES256].id, i.set().signing[RS256].id
	for hour := 1; hour <= 299; hour++ {
		w.pass(time.Hour)
		tend(t, i)
		if _, err := i.Verify(t.Context(), raw, base); err != nil || !published(t, i, es) {
			t.Fatalf("after %d hours: %v", hour, err)
		}
		if _, err := i.VerifyIDToken(t.Context(), hint); hour <= 7*24 && err != nil {
			t.Errorf("a hint is refused after %d hours: %v", hour, err)
		}
	}
	if i.set().signing[ES256].id == es || published(t, i, rs) {
		t.Error("the keys are not rotated")
	}
	if _, err := i.VerifyIDToken(t.Context(), hint); codeOf(err) != "invalid_token" {
		t.Errorf("an ID token of a removed key: %v", err)
	}
	w.pass(26 * time.Hour) // the reserved lifetime and an hour
	tend(t, i)
	if published(t, i, es) {
		t.Error("a key that nothing valid was signed with is published")
	}
	other := newInstance(t, keys, w)
	if _, err := other.Verify(t.Context(), raw, base); codeOf(err) != "invalid_token" {
		t.Errorf("a token of a removed key: %v", err)
	}
	for _, k := range keys.keys {
		if !published(t, i, k.ID) {
			t.Errorf("the key %s is not published", k.ID)
		}
	}
}

// TestUnknownKey has an instance that does not know yet that another one has rotated with
// --now.
func TestUnknownKey(t *testing.T) {
	keys, w := &ring{}, &watch{}
	here, there := newInstance(t, keys, w), newInstance(t, keys, w)
	if err := there.Rotate(t.Context(), true, schemas.Event{}); err != nil {
		t.Fatal(err)
	}
	access := issueAccess(t, there, newAccess())
	before := keys.reads.Load()
	if _, err := here.Verify(t.Context(), access, base); err != nil {
		t.Errorf("a token of a key that is new is refused: %v", err)
	}
	if _, err := here.VerifyIDToken(t.Context(), idToken(t, there, nil)); err != nil {
		t.Errorf("an ID token of a key that is new is refused: %v", err)
	}
	if reads := keys.reads.Load() - before; reads != 1 {
		t.Errorf("the keys were read %d times, expected once", reads)
	}
	if here.set().signing[ES256].id != there.set().signing[ES256].id {
		t.Error("the instances sign with different keys")
	}
}

// strange is a token of an unknown key under a well-formed header.
func strange(t testing.TB, i *Issuer) string {
	t.Helper()
	foreign := newSigner(schemas.NewID(), ES256, i.set().signing[ES256].private)
	raw, err := foreign.sign(AccessType, []byte("{}"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// Tokens with random key ids do not each cause a read of the store, and malformed headers
// cause none.
func TestUnknownKeysAreLookedUpOnce(t *testing.T) {
	keys, w := &ring{}, &watch{}
	i := newInstance(t, keys, w)
	flood := func(raws ...string) int64 {
		before := keys.reads.Load()
		for _, raw := range raws {
			if _, err := i.Verify(t.Context(), raw, base); codeOf(err) != "invalid_token" {
				t.Errorf("%v, expected invalid_token", err)
			}
		}
		return keys.reads.Load() - before
	}
	var ours, others []string
	for range 100 {
		ours = append(ours, strange(t, i))
	}
	for _, header := range []string{`{}`, `{"alg":"ES256"}`, `{"alg":"ES256","kid":"","typ":"at+jwt"}`, `{"alg":"none","kid":"a"}`, `{"kid":"a","alg":"ES256"}`,
		`{"alg":"ES256","kid":"a","jku":"https://evil.example"}`, `{"alg":"RS256","kid":"a","typ":"at+jwt"}`, `null`, `[]`, `"`} {
		others = append(others, base64.RawURLEncoding.EncodeToString([]byte(header))+".e30.AAAA")
	}
	if n := flood(others...); n != 0 {
		t.Errorf("the keys were read %d times for headers that this issuer does not write", n)
	}
	if n := flood(ours...); n != lookupBurst {
		t.Errorf("the keys were read %d times, expected %d", n, lookupBurst)
	}
	w.pass(3 * lookupEvery)
	if n := flood(ours...); n != 3 {
		t.Errorf("the keys were read %d times, expected 3", n)
	}
}

// If a key cannot be looked up, the error does not call its token invalid. Other tokens are
// not affected.
func TestUnknownKeyWithoutStore(t *testing.T) {
	keys, w := &ring{}, &watch{}
	i := newInstance(t, keys, w)
	raw := issueAccess(t, i, newAccess())
	keys.fault = errors.New("the store is away")
	if _, err := i.Verify(t.Context(), strange(t, i), base); codeOf(err) != "internal_error" {
		t.Errorf("%v, expected that it could not be looked up", err)
	}
	if err := i.MaintainKeys(t.Context()); err == nil {
		t.Error("keys that cannot be read are tended")
	}
	if _, err := i.Verify(t.Context(), raw, base); err != nil {
		t.Errorf("a good token is refused: %v", err)
	}
}

// An instance with outdated keys does not sign with a key that was removed.
func TestStaleInstance(t *testing.T) {
	keys, w := &ring{}, &watch{}
	stale, other := newInstance(t, keys, w), newInstance(t, keys, w)
	tend(t, other)
	for range 3 {
		w.pass(24 * time.Hour)
		tend(t, other)
		w.pass(time.Hour)
		tend(t, other)
	}
	raw := issueAccess(t, stale, newAccess())
	if _, err := other.Verify(t.Context(), raw, base); err != nil {
		t.Errorf("refused: %v", err)
	}
	keys.fault = errors.New("the store is away")
	long := newAccess()
	long.Validity = 1000 * time.Hour
	if _, err := stale.Access(t.Context(), long); err == nil {
		t.Error("a token was issued that its key is not kept for")
	}
	if _, err := stale.Access(t.Context(), newAccess()); err != nil {
		t.Errorf("a token that its key is kept for is not issued: %v", err)
	}
}

// TestRotationUnderLoad signs and verifies on two instances continuously while keys are
// published, promoted, retired and removed. A relying party verifies with a key set of the
// maximum age.
func TestRotationUnderLoad(t *testing.T) {
	const (
		rotations = 3
		between   = 15 // minimum of tokens that each worker checks between two transitions
	)
	keys, w := &ring{}, &watch{}
	instances := []*Issuer{newInstance(t, keys, w), newInstance(t, keys, w)}
	for _, i := range instances {
		tend(t, i)
	}
	var cached atomic.Pointer[jose.JSONWebKeySet] // of a relying party
	fetch := func() {
		var set jose.JSONWebKeySet
		if err := json.Unmarshal(instances[1].JWKS(), &set); err != nil {
			t.Error(err)
		}
		cached.Store(&set)
	}
	fetch()
	var stop atomic.Bool
	var done sync.WaitGroup
	checked := make([]atomic.Int64, 4)
	for n := range checked {
		signing, verifying := instances[n%2], instances[(n+n/2)%2]
		done.Go(func() {
			for !stop.Load() {
				signAndVerify(t, signing, verifying, n, cached.Load)
				checked[n].Add(1)
			}
		})
	}
	settle := func() {
		for n := range checked {
			for want := checked[n].Load() + between; checked[n].Load() < want; {
				time.Sleep(time.Millisecond)
			}
		}
	}
	for range rotations {
		w.pass(23 * time.Hour)
		tend(t, instances[0]) // publishes; the other instance does not know
		settle()
		tend(t, instances[1])
		settle()
		w.pass(50 * time.Minute)
		fetch() // ten minutes before the key signs
		w.pass(10 * time.Minute)
		tend(t, instances[1]) // promotes; the other instance does not know
		settle()
		tend(t, instances[0])
		settle()
	}
	stop.Store(true)
	done.Wait()
	for _, action := range []string{"signing-key.published", "signing-key.promoted"} {
		if n := keys.count(action); n != 2*rotations {
			t.Errorf("%d events %s, expected %d", n, action, 2*rotations)
		}
	}
	w.pass(30 * 24 * time.Hour) // nothing is valid any more
	tend(t, instances[0])
	if n := keys.count("signing-key.removed"); n != 2*rotations {
		t.Errorf("%d keys have been removed, expected all %d that were retired", n, 2*rotations)
	}
}

// signAndVerify issues a token of each kind and verifies it on the other instance and as a
// relying party.
func signAndVerify(t *testing.T, signing, verifying *Issuer, n int, cached func() *jose.JSONWebKeySet) {
	access := newAccess()
	access.Validity = 100 * time.Hour // the clock may advance a day between issue and check
	raw, err := signing.Access(t.Context(), access)
	if err == nil {
		_, err = verifying.Verify(t.Context(), raw, base)
	}
	if err != nil {
		t.Errorf("an access token: %v", err)
	}
	id := newID()
	id.Algorithm = algorithms()[n%2]
	if raw, err = signing.IDToken(t.Context(), id); err != nil {
		t.Errorf("an ID token: %v", err)
		return
	}
	if _, err = verifying.VerifyIDToken(t.Context(), raw); err != nil {
		t.Errorf("an ID token: %v", err)
	}
	parsed, err := jose.ParseSignedCompact(raw, []jose.SignatureAlgorithm{jose.ES256, jose.RS256})
	if err != nil {
		t.Errorf("an ID token: %v", err)
		return
	}
	if found := cached().Key(parsed.Signatures[0].Header.KeyID); len(found) != 1 {
		t.Error("a key signs that a relying party cannot know yet")
	} else if _, err := parsed.Verify(found[0]); err != nil {
		t.Errorf("a relying party refuses an ID token: %v", err)
	}
}
