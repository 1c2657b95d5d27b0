package server

import (
	"net/http"

	"github.com/postern-id/postern/internal/throttle"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
)

// deviceCookie is the cookie by which a browser is known in which somebody has signed
// in. It says nothing of people who have not, and is read for nothing else.
const deviceCookie = "postern-device"

// device is the browser that sends a request; nil where none is known.
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

// keepDevice has the browser keep who has signed in with it. Where that is in another
// site's page the browser does not: it takes no such cookie there.
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
