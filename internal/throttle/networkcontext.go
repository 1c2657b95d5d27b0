package throttle

import "context"

type networkKey struct{}

// NewContext returns ctx for a request from a network. It passes the network to the code
// that checks a guess without involving the layers between.
func NewContext(ctx context.Context, n Network) context.Context {
	return context.WithValue(ctx, networkKey{}, n)
}

// FromContext returns the network of ctx (see NewContext), the zero Network for none.
func FromContext(ctx context.Context) Network {
	network, _ := ctx.Value(networkKey{}).(Network)
	return network
}

// AdmitFrom is Admit for the network of ctx (see NewContext).
func (t *Throttle) AdmitFrom(ctx context.Context, at Endpoint) error {
	return t.Admit(&Attempt{Endpoint: at, Network: FromContext(ctx)})
}
