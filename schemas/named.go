package schemas

import "context"

// Named are the records that a request names. A distant store reads them together with what the request
// reads first; they decide nothing.
type Named struct {
	Passkey  Bytes  // the ID; nil for none
	CodeHash []byte // of an authorization code; nil for none
	Family   string // of a refresh token, the ID; "" for none
}

type namedKey struct{}

// WithNamed returns the context of a request that names records.
func WithNamed(ctx context.Context, n Named) context.Context {
	return context.WithValue(ctx, namedKey{}, n)
}

// NamedBy returns the records that the request of a context names.
func NamedBy(ctx context.Context) Named {
	n, _ := ctx.Value(namedKey{}).(Named)
	return n
}
