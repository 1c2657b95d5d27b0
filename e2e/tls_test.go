package e2e_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// foreignHost is a name other than localhost that Chromium is configured to resolve to
// loopback.
const foreignHost = "login.postern.test"

// serveTLS starts postern with HTTPS, its default, under a name.
func serveTLS(t *testing.T, host string) *postern {
	t.Helper()
	return serveAt(t, "https", host, "POSTERN_SERVER_HTTP_ONLY=false", "POSTERN_SERVER_HOSTNAME="+host)
}

func TestHTTPSByDefault(t *testing.T) {
	t.Parallel()
	p := serveTLS(t, "localhost")
	first := p.certificate(t)
	for _, name := range []string{"localhost", "127.0.0.1", "::1"} {
		if err := first.VerifyHostname(name); err != nil {
			t.Errorf("the self-signed certificate: %v", err)
		}
	}
	trusted := x509.NewCertPool()
	trusted.AddCert(first)
	if _, err := first.Verify(x509.VerifyOptions{DNSName: "localhost", Roots: trusted}); err != nil {
		t.Errorf("a client that trusts the certificate gets: %v", err)
	}

	p.terminate()
	p.start()
	if !bytes.Equal(p.certificate(t).Raw, first.Raw) {
		t.Error("a restart made another certificate; what was trusted is trusted no more")
	}

	r, err := http.Get(strings.Replace(p.base, "https:", "http:", 1))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	if r.StatusCode != http.StatusBadRequest {
		t.Errorf("plain HTTP to the HTTPS port gets status %d, want 400", r.StatusCode)
	}
}

// certificate is the server's certificate.
func (p *postern) certificate(t *testing.T) *x509.Certificate {
	t.Helper()
	c, err := tls.Dial("tcp", p.address, &tls.Config{ServerName: "localhost", InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	return c.ConnectionState().PeerCertificates[0]
}

// After the user has accepted the warning, Chromium offers passkeys on localhost although
// the certificate is not trusted. The next test covers other hosts.
func TestPageOverHTTPSWithAnUntrustedCertificate(t *testing.T) {
	t.Parallel()
	p, b := serveTLS(t, "localhost"), openTab(t)
	b.clickThrough(p.base + "/try/")
	b.signUpHere("ada")
	b.click("sign-out")
	b.click("start-sign-in")
	b.sees("signed-in")
	if got := b.claim("username"); got != "ada" {
		t.Errorf("signed in %q, want ada", got)
	}
}

// The virtual authenticator bypasses Chromium's check of the certificate, so this test has
// none: if the browser does not reject the call, it waits for an authenticator.
func TestChromiumRequiresATrustedCertificateExceptOnLocalhost(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		host    string
		refused bool
	}{
		{"localhost", false},
		{foreignHost, true},
	} {
		t.Run(test.host, func(t *testing.T) {
			t.Parallel()
			p, b := serveTLS(t, test.host), openBareTab(t)
			b.clickThrough(p.base + "/try/")
			if !eval[bool](b, "isSecureContext") {
				t.Error("the page is no secure context")
			}
			b.click("start-sign-up")
			b.sees("step/who")
			b.enter("username", "ada")
			b.click("action-continue")
			b.sees("step/key")
			b.click("action-passkey")
			if test.refused {
				if text := b.expectMessage(); !strings.Contains(text, "certificate") {
					t.Errorf("the page does not tell of the certificate: %s", text)
				}
				return
			}
			// A rejection is immediate, and would have ended the wait.
			eval[any](b, `new Promise((resolve) => setTimeout(resolve, 500))`)
			b.until(`!document.getElementById("cancel").hidden`)
			// The browser's own dialog captures the mouse.
			eval[any](b, `document.getElementById("cancel").click()`)
			if text := b.expectMessage(); !strings.Contains(text, "Canceled") {
				t.Errorf("the browser did not wait for an authenticator: %s", text)
			}
		})
	}
}

// clickThrough opens a page with an untrusted certificate, and accepts the risk by typing
// the word that Chromium's warning recognizes.
func (p *tab) clickThrough(url string) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, timeout)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.Navigate(url)); err == nil || !strings.Contains(err.Error(), "ERR_CERT_AUTHORITY_INVALID") {
		p.t.Fatalf("Chromium trusts the self-signed certificate, or cannot reach the page: %v", err)
	}
	// The warning ignores keys before it has been drawn, so type repeatedly.
	eventually(p.t, "the warning gives way", func() bool {
		for _, letter := range "thisisunsafe" {
			call(p, input.DispatchKeyEvent, input.DispatchKeyEventParams{Type: "char", Key: string(letter), Text: string(letter)})
		}
		return p.evalBool(fmt.Sprintf("location.href === %q", url))
	})
	p.sees("home")
}

// dialLoopback connects to the port on loopback for any name.
func dialLoopback(port int) func(context.Context, string, string) (net.Conn, error) {
	return func(ctx context.Context, network, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, network, fmt.Sprintf("127.0.0.1:%d", port))
	}
}
