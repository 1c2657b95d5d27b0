package token

import (
	"context"
	"fmt"
	"time"

	"github.com/postern-id/postern/schemas"
)

// The defaults of key rotation.
const (
	defaultKeyPublish = time.Hour
	defaultKeyAge     = 90 * 24 * time.Hour
)

// algorithmKeys are the signing and the published key of an algorithm; nil for none.
type algorithmKeys struct{ signing, published *schemas.SigningKey }

func (set *keySet) keysOf(algorithm string) (l algorithmKeys) {
	for n := range set.stored {
		k := &set.stored[n]
		switch {
		case k.Algorithm != algorithm:
		case k.Status == schemas.KeySigning:
			l.signing = k
		case k.Status == schemas.KeyPublished:
			l.published = k
		}
	}
	return l
}

// SigningKeys returns the keys as last read, oldest first, without their private halves.
func (i *Issuer) SigningKeys() []schemas.SigningKey {
	return append([]schemas.SigningKey(nil), i.set().stored...)
}

// SignsFrom is when a published key starts to sign. By then other instances, which read the
// keys regularly, and relying parties, which cache the published keys, know it.
func (i *Issuer) SignsFrom(k schemas.SigningKey) time.Time { return k.CreatedAt.Add(i.keyPublish) }

// MaintainKeys reads the keys and makes the transitions that are due: it publishes the next
// key when the signing key is getting old, promotes it when it has been published long
// enough, and removes retired keys that have signed nothing which is still valid. Every
// instance calls it regularly; one of them makes each transition.
func (i *Issuer) MaintainKeys(ctx context.Context) error {
	if err := i.Reload(ctx); err != nil {
		return err
	}
	for _, algorithm := range algorithms() {
		if err := i.advance(ctx, algorithm); err != nil {
			return err
		}
	}
	return i.removeRetired(ctx)
}

// advance makes the transition that is due for an algorithm, if any.
func (i *Issuer) advance(ctx context.Context, algorithm string) error {
	l, now := i.set().keysOf(algorithm), i.now()
	switch {
	case l.published != nil && (l.signing == nil || !now.Before(i.SignsFrom(*l.published))):
		return i.promote(ctx, l)
	case l.signing == nil:
		_, err := i.signer(ctx, algorithm)
		return err
	case l.published == nil && !now.Before(l.signing.SignsSince.Add(i.keyAge-i.keyPublish)):
		return i.publish(ctx, l)
	}
	return nil
}

// Rotate publishes the next key of each algorithm, unless one is already published. Now
// promotes it at once. Relying parties that cache the published keys and do not refetch
// them for an unknown key then reject its signatures for a while. The events name the actor
// and the trace id of by; the zero value stands for the operator.
func (i *Issuer) Rotate(ctx context.Context, now bool, by schemas.Event) error {
	ctx = context.WithValue(ctx, byKey{}, by)
	if err := i.Prepare(ctx); err != nil {
		return err
	}
	for _, algorithm := range algorithms() {
		if l := i.set().keysOf(algorithm); l.published == nil {
			if err := i.publish(ctx, l); err != nil {
				return err
			}
		}
		if l := i.set().keysOf(algorithm); now && l.published != nil {
			if err := i.promote(ctx, l); err != nil {
				return err
			}
		}
	}
	return nil
}

func (i *Issuer) publish(ctx context.Context, l algorithmKeys) error {
	k, err := i.newKey(l.signing.Algorithm, schemas.KeyPublished)
	if err != nil {
		return err
	}
	return i.transition(ctx, i.keys.PublishSigningKey(ctx, k, l.signing.ID, i.event(ctx, "signing-key.published", k)))
}

func (i *Issuer) promote(ctx context.Context, l algorithmKeys) error {
	after := ""
	if l.signing != nil {
		after = l.signing.ID
	}
	return i.transition(ctx, i.keys.PromoteSigningKey(ctx, l.published.ID, after, i.now().UTC(), i.event(ctx, "signing-key.promoted", *l.published)))
}

func (i *Issuer) removeRetired(ctx context.Context) error {
	expired := i.now().Add(-leeway).UTC()
	for _, k := range i.set().stored {
		if k.Status != schemas.KeyRetired || k.NeededUntil.After(expired) {
			continue
		}
		if err := i.transition(ctx, i.keys.RemoveSigningKey(ctx, k.ID, expired, i.event(ctx, "signing-key.removed", k))); err != nil {
			return err
		}
	}
	return nil
}

// transition reads the keys again after a transition. A conflict means that another instance
// was faster, which is no error.
func (i *Issuer) transition(ctx context.Context, err error) error {
	if err != nil && !schemas.HasClass(err, schemas.Conflict) {
		return fmt.Errorf("token: rotating the signing keys: %w", err)
	}
	return i.Reload(ctx)
}

// byKey is the key of the event in a context that names who rotates the keys.
type byKey struct{}

func (i *Issuer) event(ctx context.Context, action string, k schemas.SigningKey) schemas.Event {
	by, _ := ctx.Value(byKey{}).(schemas.Event)
	if by.Actor.Type == "" {
		by.Actor.Type = schemas.SystemActor
	}
	return schemas.Event{
		ID: schemas.NewID(), At: i.now().UTC(), Action: action, Actor: by.Actor, TraceID: by.TraceID,
		Resource: schemas.ResourceRef{Type: "signing-key", ID: k.ID}, Detail: map[string]string{"algorithm": k.Algorithm},
	}
}

// hintTTL is how long the key of an expired ID token is kept, because a client can send the
// token as a hint, to sign in again or to sign out.
const hintTTL = 7 * 24 * time.Hour
