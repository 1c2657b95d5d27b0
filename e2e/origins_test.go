package e2e_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/design"
)

// foreignServer serves the page from another loopback port, as a customer's web server would,
// without the policy that binds Postern's copy to its own origin.
func foreignServer(t *testing.T) (origin string) {
	t.Helper()
	mux := http.NewServeMux()
	mux.Handle("/", http.FileServer(http.Dir("../examples/try")))
	mux.HandleFunc("/config.json", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, `{"applicationId":%q}`, tryID)
	})
	mux.HandleFunc("/design.css", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/css")
		fmt.Fprint(w, design.Compatible())
	})
	mux.HandleFunc("/icon.svg", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		fmt.Fprint(w, design.Favicon())
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return fmt.Sprintf("http://localhost:%d", s.Listener.Addr().(*net.TCPAddr).Port)
}

func TestPageOfAnotherOrigin(t *testing.T) {
	t.Parallel()
	listed, unlisted := foreignServer(t), foreignServer(t)
	// Of localhost any port may call the endpoints: the server's own applications have redirect URIs there.
	unknown := strings.Replace(foreignServer(t), "localhost", "elsewhere.localhost", 1)
	p := serve(t,
		"POSTERN_CORS_ALLOWED_ORIGINS="+listed+","+unlisted,
		"POSTERN_PASSKEY_ALLOWED_ORIGINS="+listed,
	)

	t.Run("listed", func(t *testing.T) {
		b := openTab(t)
		b.open(listed + "/?api=" + p.base)
		b.signUpHere("ada")
		b.click("sign-out")
		b.click("start-atomic")
		b.sees("signed-in")
		if got := b.text("claims"); got == "" {
			t.Error("the page shows no claims")
		}
	})

	t.Run("not in passkey.allowed_origins", func(t *testing.T) {
		b := openTab(t)
		b.open(unlisted + "/?api=" + p.base)
		b.click("start-sign-up")
		b.sees("step/who")
		b.enter("username", "bob")
		b.click("action-continue")
		b.sees("step/key")
		b.click("action-passkey")
		text := b.expectMessage()
		for _, want := range []string{unlisted, `"localhost"`, "passkey.allowed_origins"} {
			if !strings.Contains(text, want) {
				t.Errorf("the error does not name %s: %s", want, text)
			}
		}
		b.sees("step/key")
	})

	t.Run("not in cors.allowed_origins", func(t *testing.T) {
		b := openTab(t)
		b.open(unknown + "/?api=" + p.base)
		b.click("start-sign-up")
		if text := b.expectMessage(); !strings.Contains(text, unknown) || !strings.Contains(text, "cors.allowed_origins") {
			t.Errorf("the error does not name the origin and the key: %s", text)
		}
	})

	t.Run("Postern's own copy talks to no other server", func(t *testing.T) {
		b := openTab(t)
		b.open(p.base + "/try/?api=" + unknown)
		b.click("start-sign-in")
		b.expectMessage()
		b.until(fmt.Sprintf(`performance.getEntriesByType("resource").every((r) => !r.name.startsWith(%q))`, unknown))
	})
}
