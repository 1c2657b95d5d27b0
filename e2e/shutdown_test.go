package e2e_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/schemas"
)

// When the server is stopped it answers requests in progress, stores what it has
// acknowledged, and exits with code 0.
func TestShutdownFinishesRequestsInProgress(t *testing.T) {
	t.Parallel()
	p := serve(t)
	var requests []*halfSent
	for i := range 8 {
		s, err := p.begin("REGISTRATION")
		if err != nil {
			t.Fatal(err)
		}
		requests = append(requests, p.sendHalf(t, answerTo(s, "continue", map[string]string{"username": fmt.Sprintf("user-%d", i)})))
	}
	devices := signUpUntil(p, "load", 16, func() { _ = p.process.Signal(syscall.SIGTERM) })
	eventually(t, "the server takes no new connections", func() bool {
		c, err := net.Dial("tcp", p.address)
		if err != nil {
			return true
		}
		c.Close()
		return false
	})

	var answered []*schemas.Step
	for _, r := range requests {
		answered = append(answered, r.finish(t))
	}
	if code := p.terminate(); code != 0 {
		t.Errorf("the server ended with exit code %d, want 0\n%s", code, p.log)
	}

	p.start()
	for _, s := range answered {
		now, err := p.execute(object{"executionId": s.ExecutionID})
		if err != nil || now.StepID != "key" {
			t.Errorf("after the restart an acknowledged step is %+v, %v; want key", now, err)
		}
	}
	for _, device := range devices {
		if _, err := p.signIn(device); err != nil {
			t.Errorf("an acknowledged sign-up is lost: %v", err)
		}
	}
}

// halfSent is a request that the server is reading: it has answered the header with 100
// Continue, and waits for the body.
type halfSent struct {
	connection net.Conn
	reader     *bufio.Reader
	body       []byte
}

func (p *postern) sendHalf(t *testing.T, body object) *halfSent {
	t.Helper()
	text := datatest.Marshal(t, body)
	c, err := net.Dial("tcp", p.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	if err := c.SetDeadline(time.Now().Add(timeout)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "POST /flow/execute HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n", len(text))
	r := bufio.NewReader(c)
	w, err := http.ReadResponse(r, nil)
	if err != nil || w.StatusCode != http.StatusContinue {
		t.Fatalf("the server does not ask for the body: %+v, %v", w, err)
	}
	return &halfSent{c, r, text}
}

// finish sends the body and returns the step in the reply.
func (h *halfSent) finish(t *testing.T) *schemas.Step {
	t.Helper()
	if _, err := h.connection.Write(h.body); err != nil {
		t.Fatalf("the connection broke off: %v", err)
	}
	w, err := http.ReadResponse(h.reader, nil)
	if err != nil {
		t.Fatalf("the request in flight got no answer: %v", err)
	}
	defer w.Body.Close()
	text, err := io.ReadAll(w.Body)
	if err != nil || w.StatusCode != http.StatusOK {
		t.Fatalf("the request in flight got status %d, %v: %s", w.StatusCode, err, text)
	}
	var s schemas.Step
	datatest.Unmarshal(t, text, &s)
	return &s
}
