package e2e_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// refusal is a reply with a status from 400 to 499: the server did not make the change. After any
// other error it is unknown whether the server made the change.
type refusal struct {
	request string
	status  int
	body    string
}

func (r *refusal) Error() string {
	return fmt.Sprintf("%s: status %d: %.300s", r.request, r.status, r.body)
}

func isRefusal(err error) bool {
	_, refused := errors.AsType[*refusal](err)
	return refused
}

// tortureClient is a browser or program that does not retry requests.
type tortureClient struct {
	base string
	http *http.Client
}

// newTortureClient returns a client without cookies whose connections lead to a port.
func newTortureClient(base string, port int) *tortureClient {
	jar, err := cookiejar.New(nil)
	if err != nil {
		panic(err) // only for invalid options
	}
	return &tortureClient{base, &http.Client{
		Jar: jar, Timeout: 20 * time.Second, // a stopped server does not answer
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", port))
		}},
	}}
}

// send sends a request and decodes the reply into out unless that is nil. Without an error the
// whole reply arrived, and its status is below 400.
func (c *tortureClient) send(method, path, token, contentType, body string, out any) (http.Header, error) {
	if !strings.HasPrefix(path, c.base) {
		path = c.base + path
	}
	r, err := http.NewRequest(method, path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	if method == http.MethodGet {
		// The transport repeats a GET without a body when a connection breaks, which would hide
		// that a reply was lost.
		r.Body, r.GetBody = io.NopCloser(strings.NewReader("")), nil
	}
	w, err := c.http.Do(r)
	if err != nil {
		return nil, err
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	switch {
	case err != nil:
		return nil, err
	case w.StatusCode >= 500:
		return nil, fmt.Errorf("%s %s: status %d", method, path, w.StatusCode)
	case w.StatusCode >= 400:
		return nil, &refusal{method + " " + path, w.StatusCode, string(text)}
	case out != nil:
		err = json.Unmarshal(text, out)
	}
	return w.Header, err
}

// json sends a JSON body; nil for none.
func (c *tortureClient) json(method, path, token string, body, out any) error {
	if body == nil {
		_, err := c.send(method, path, token, "", "", out)
		return err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	_, err = c.send(method, path, token, "application/json", string(text), out)
	return err
}

// form posts a form to an endpoint of OAuth.
func (c *tortureClient) form(path string, form url.Values, out any) error {
	_, err := c.send(http.MethodPost, path, "", "application/x-www-form-urlencoded", form.Encode(), out)
	return err
}

// execute posts to /flow/execute. A run that ends with an error counts as a refusal.
func (c *tortureClient) execute(body object) (*schemas.Step, error) {
	var s schemas.Step
	if err := c.json(http.MethodPost, "/flow/execute", "", body, &s); err != nil {
		return nil, err
	}
	if s.FlowStatus == schemas.Failed || s.Error != nil {
		return nil, &refusal{"POST /flow/execute", http.StatusOK, fmt.Sprintf("%s %s %v", s.FlowStatus, s.FailureReason, s.Error)}
	}
	return &s, nil
}

// follow requests an address and returns the query of the redirect.
func (c *tortureClient) follow(address string) (url.Values, error) {
	header, err := c.send(http.MethodGet, address, "", "", "", nil)
	if err != nil {
		return nil, err
	}
	to, err := url.Parse(header.Get("Location"))
	if err != nil {
		return nil, err
	}
	switch q := to.Query(); {
	case q.Get("error") == "server_error", q.Get("error") == "temporarily_unavailable", strings.HasPrefix(q.Get("errorCode"), "store_"):
		return nil, fmt.Errorf("redirected with %s", q.Get("error"))
	case q.Has("error"), q.Has("errorCode"), len(q) == 0:
		return nil, &refusal{"GET " + address, http.StatusFound, to.String()}
	default:
		return q, nil
	}
}

// insist repeats a request until the reply is either a success or a refusal, or until stop is
// closed.
func insist(stop <-chan struct{}, request func() error) error {
	for {
		err := request()
		if err == nil || isRefusal(err) {
			return err
		}
		select {
		case <-stop:
			return err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

const tortureRedirect = "http://127.0.0.1:8000/cb"

// authorization is an authorization request with PKCE for the API.
func authorization(clientID, base string) string {
	sum := sha256.Sum256([]byte(codeVerifier))
	return "/oauth2/authorize?" + url.Values{
		"client_id": {clientID}, "redirect_uri": {tortureRedirect}, "response_type": {"code"}, "scope": {"openid account offline_access"},
		"state": {"state"}, "resource": {base}, "code_challenge_method": {"S256"}, "code_challenge": {base64.RawURLEncoding.EncodeToString(sum[:])},
	}.Encode()
}
