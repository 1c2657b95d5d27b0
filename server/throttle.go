package server

import (
	"errors"
	"net/http"
	"net/netip"

	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// limited returns the handler of an endpoint with limits. Its context contains the source of the
// request.
func (s *server) limited(at throttle.Endpoint, h handler) handler {
	return func(w http.ResponseWriter, r *http.Request, c *caller) error {
		a := throttle.Attempt{Endpoint: at, Network: s.network(r)}
		if err := s.Throttle.Admit(&a); err != nil {
			return err
		}
		err := s.located(h)(w, r, c)
		s.Throttle.Done(&a, outcomeOf(err))
		return err
	}
}

// located returns a handler whose context has the network and the device of the request. The queue
// of password hashes needs the network even without a throttle.
func (s *server) located(h handler) handler {
	return func(w http.ResponseWriter, r *http.Request, c *caller) error {
		ctx := throttle.NewContext(r.Context(), s.network(r))
		if s.Throttle != nil {
			ctx = throttle.WithDevice(ctx, s.device(r))
		}
		return h(w, r.WithContext(ctx), c)
	}
}

// admitRun limits how many runs start, and how fast one is answered.
func (s *server) admitRun(r *http.Request, body *executeBody) error {
	if s.Throttle == nil {
		return nil
	}
	a := throttle.Attempt{Endpoint: throttle.RunStart, Network: s.network(r)}
	if body.ExecutionID != nil {
		a = throttle.Attempt{Endpoint: throttle.RunStep, Run: throttle.KeyOf(*body.ExecutionID)}
	}
	return s.Throttle.Admit(&a)
}

// client returns the address that a request came from.
func (s *server) client(r *http.Request) netip.Addr {
	return s.Proxies.Client(r.RemoteAddr, r.Header.Values(s.Proxies.Field))
}

// network returns the network of a request.
func (s *server) network(r *http.Request) throttle.Network {
	client := s.client(r)
	if len(s.Proxies.Trusted) == 0 && (client.IsPrivate() || client.IsLoopback()) && r.Header.Get(throttle.XForwardedFor) != "" {
		s.proxied.Do(func() {
			s.Log.Warn("requests come through an untrusted proxy, so all of its clients are throttled as one; add the address of the proxy to server.trusted_proxies")
		})
	}
	return throttle.NetworkOf(client)
}

// outcomeOf reports whether an error is the client's fault.
func outcomeOf(err error) throttle.Outcome {
	if err == nil {
		return throttle.Passed
	}
	status := statusOf(schemas.AsError(err).Class)
	if reported, ok := errors.AsType[*oauth.Error](err); ok {
		status = reported.Status
	}
	if status >= http.StatusInternalServerError || status == http.StatusTooManyRequests {
		return throttle.Void
	}
	return throttle.Failed
}

// deviceCookie identifies a browser in which a user has signed in, and what the user proved there. It contains nothing about other
// users and has no other use.
const deviceCookie = "postern-device"

// device returns the browser that sends a request; nil if it is unknown.
func (s *server) device(r *http.Request) *throttle.Device {
	if s.Throttle == nil || s.Devices == nil {
		return nil
	}
	sent := ""
	if c, err := r.Cookie(oauth.Cookie(s.PublicURL, deviceCookie, "").Name); err == nil {
		sent = c.Value
	}
	return throttle.OpenDevice(s.Devices, sent)
}

// keepDevice stores the signed-in user, and what the sign-in proved, in the device cookie of the
// browser. In a page of another site the browser rejects the cookie.
func (s *server) keepDevice(w http.ResponseWriter, d *throttle.Device, step *schemas.Step) {
	if d == nil || step.SignedIn == "" {
		return
	}
	if d.SignedIn(step.SignedIn, step.Strength, s.now()); !d.Changed() {
		return
	}
	c := oauth.Cookie(s.PublicURL, deviceCookie, d.Seal(s.Devices))
	c.MaxAge = int(throttle.DeviceTTL.Seconds())
	http.SetCookie(w, c)
}
