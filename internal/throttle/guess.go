package throttle

import (
	"context"

	"github.com/postern-id/postern/schemas"
)

// Guess checks a secret of an account, if the network and device of ctx (see NewContext and
// WithDevice) are below their limits. It returns the result of check, or an error of Class
// Throttled. An error of check means that nothing was checked.
func (t *Throttle) Guess(ctx context.Context, g schemas.Guess, check func() (right bool, err error)) (bool, error) {
	if t == nil {
		return check()
	}
	device, _ := ctx.Value(deviceKey{}).(*Device)
	a := Attempt{Endpoint: Guess, Network: FromContext(ctx), Account: accountOf(g), Device: device.of(g, t.options.Now())}
	if err := t.Admit(&a); err != nil {
		return false, err
	}
	right, err := t.checkCounted(ctx, t.failureOf(&a, g), check)
	outcome := Failed
	switch {
	case err != nil:
		outcome = Void
	case right:
		outcome = Passed
	}
	t.Done(&a, outcome)
	return right, err
}

// accountOf returns the key of the target of a guess. Kinds of secrets are counted
// separately: knowing one must not gain guesses at another.
func accountOf(g schemas.Guess) Key {
	name := nameOf(g)
	if name == "" {
		return Key{}
	}
	return KeyOf(string(g.Secret) + " " + g.UserID + " " + name)
}

// AdmitMail admits a mail to the account of a name, if the network of ctx (see NewContext)
// may send another. The error is that of Admit.
func (t *Throttle) AdmitMail(ctx context.Context, name string) error {
	return t.Admit(&Attempt{Endpoint: Mail, Network: FromContext(ctx), Account: AccountOf(name)})
}
