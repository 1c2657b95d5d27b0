package throttle

import "context"

type networkKey struct{}

// NewContext is ctx for a request from a network. It goes with the request to
// where a guess is checked, past those who need not know.
func NewContext(ctx context.Context, n Network) context.Context {
	return context.WithValue(ctx, networkKey{}, n)
}

// FromContext returns the network that ctx came from (see NewContext), the zero
// Network for none.
func FromContext(ctx context.Context) Network {
	network, _ := ctx.Value(networkKey{}).(Network)
	return network
}

// AdmitFrom is Admit for the network that ctx came from (see NewContext).
func (t *Throttle) AdmitFrom(ctx context.Context, at Endpoint) error {
	return t.Admit(&Attempt{Endpoint: at, Network: FromContext(ctx)})
}

// Guess checks a secret of the account of that name, if its network or device may
// try: those that ctx came from (see NewContext and WithDevice), or none. The user is
// whose account it is, "" for nobody's. It returns what check does, or the error of
// Admit. An error of check says that nothing was checked.
func (t *Throttle) Guess(ctx context.Context, name, userID string, check func() (right bool, err error)) (bool, error) {
	a := Attempt{Endpoint: Guess, Network: FromContext(ctx), Account: AccountOf(name)}
	if t != nil {
		device, _ := ctx.Value(deviceKey{}).(*Device)
		a.Device = device.of(userID, t.now())
	}
	if err := t.Admit(&a); err != nil {
		return false, err
	}
	right, err := check()
	switch {
	case err != nil:
		t.Done(&a, Void)
	case right:
		t.Done(&a, Passed)
	default:
		t.Done(&a, Failed)
	}
	return right, err
}

// AdmitMail admits a mail to the account of that name, if the network that ctx came
// from (see NewContext) may have another sent. The error is that of Admit.
func (t *Throttle) AdmitMail(ctx context.Context, name string) error {
	return t.Admit(&Attempt{Endpoint: Mail, Network: FromContext(ctx), Account: AccountOf(name)})
}
