package server

import (
	"net/http"

	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// deviceCookie identifies a browser in which a user has signed in. It contains nothing about other
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

// keepDevice stores in the browser who has signed in with it. In a page of another site the browser
// rejects the cookie.
func (s *server) keepDevice(w http.ResponseWriter, d *throttle.Device, step *schemas.Step) {
	if d == nil || step.SignedIn == "" {
		return
	}
	if d.SignedIn(step.SignedIn, s.now()); !d.Changed() {
		return
	}
	c := oauth.Cookie(s.PublicURL, deviceCookie, d.Seal(s.Devices))
	c.MaxAge = int(throttle.DeviceTTL.Seconds())
	http.SetCookie(w, c)
}
