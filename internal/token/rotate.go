package token

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Ring is Keys that can be rotated. Each method takes one step in the life of a
// key, and records the event with it. Where the keys are not as they were when
// the step was decided, because another instance took it, nothing happens and
// the error has Class Conflict.
type Ring interface {
	Keys
	// PublishSigningKey adds a key that is to sign after another.
	PublishSigningKey(ctx context.Context, k schemas.SigningKey, after string, e schemas.Event) error
	// PromoteSigningKey has a published key sign from a time on, and retires the
	// one before it ("" for none).
	PromoteSigningKey(ctx context.Context, id, after string, at time.Time, e schemas.Event) error
	// RemoveSigningKey removes a retired key, if it is not needed at the time.
	RemoveSigningKey(ctx context.Context, id string, at time.Time, e schemas.Event) error
	// NeedSigningKey has a key stay at least until a time.
	NeedSigningKey(ctx context.Context, id string, until time.Time) error
}

// How keys are rotated where Options do not say.
const (
	defaultKeyPublish = time.Hour
	defaultKeyAge     = 90 * 24 * time.Hour
)

// algorithmKeys is the keys of an algorithm that have a future; nil where there is none.
type algorithmKeys struct{ signing, published *schemas.SigningKey }

func (set *keySet) keysOf(algorithm string) (l algorithmKeys) {
	for n := range set.kept {
		k := &set.kept[n]
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

// SigningKeys are the keys as they were last read, oldest first, without their
// private halves.
func (i *Issuer) SigningKeys() []schemas.SigningKey {
	return append([]schemas.SigningKey(nil), i.set().kept...)
}

// SignsFrom is when a published key takes over. Until then everybody has got to
// know it: the other instances, which read the keys every now and then, and
// relying parties, which may keep the published ones for a while.
func (i *Issuer) SignsFrom(k schemas.SigningKey) time.Time { return k.CreatedAt.Add(i.keyPublish) }

// MaintainKeys reads the keys and takes the steps that are due: publishes the next key
// when the one that signs is getting old, has it sign when it has been published
// long enough, and removes retired keys that have signed nothing which is still
// valid. It is to be called again and again, on any number of instances: of each
// step one of them takes it.
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

// advance takes the step that is due for an algorithm, if one is.
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

// Rotate publishes the next key of each algorithm, unless one is published
// already. Now has it sign at once, in which case relying parties that keep the
// published keys, and do not look again for one they do not know, refuse what it
// signs for a while.
func (i *Issuer) Rotate(ctx context.Context, now bool) error {
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

// errNoRing is the error of a rotation of keys that are not kept in a Ring.
var errNoRing = errors.New("token: these signing keys cannot be rotated")

func (i *Issuer) publish(ctx context.Context, l algorithmKeys) error {
	k, err := i.newKey(l.signing.Algorithm, schemas.KeyPublished)
	if err != nil {
		return err
	}
	return i.step(ctx, func(r Ring) error {
		return r.PublishSigningKey(ctx, k, l.signing.ID, i.event("signing-key.published", k))
	})
}

func (i *Issuer) promote(ctx context.Context, l algorithmKeys) error {
	after := ""
	if l.signing != nil {
		after = l.signing.ID
	}
	return i.step(ctx, func(r Ring) error {
		return r.PromoteSigningKey(ctx, l.published.ID, after, i.now().UTC(), i.event("signing-key.promoted", *l.published))
	})
}

func (i *Issuer) removeRetired(ctx context.Context) error {
	expired := i.now().Add(-leeway).UTC()
	for _, k := range i.set().kept {
		if k.Status != schemas.KeyRetired || k.NeededUntil.After(expired) {
			continue
		}
		err := i.step(ctx, func(r Ring) error {
			return r.RemoveSigningKey(ctx, k.ID, expired, i.event("signing-key.removed", k))
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// step takes a step and reads the keys as they are after it. That another
// instance was quicker is fine.
func (i *Issuer) step(ctx context.Context, take func(Ring) error) error {
	r, ok := i.keys.(Ring)
	if !ok {
		return errNoRing
	}
	if err := take(r); err != nil && !schemas.HasClass(err, schemas.Conflict) {
		return fmt.Errorf("token: rotating the signing keys: %w", err)
	}
	return i.Reload(ctx)
}

func (i *Issuer) event(action string, k schemas.SigningKey) schemas.Event {
	return schemas.Event{
		ID: schemas.NewID(), At: i.now().UTC(), Action: action, Actor: schemas.Actor{Type: schemas.SystemActor},
		Resource: schemas.ResourceRef{Type: "signing-key", ID: k.ID}, Detail: map[string]string{"algorithm": k.Algorithm},
	}
}
