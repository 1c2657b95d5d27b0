package play_test

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/postern-id/postern/flows/flowtest"
	"github.com/postern-id/postern/flows/play"
)

const flow = `handle: sign-in
name: Sign in
flowType: AUTHENTICATION
nodes:
  - {id: key, use: passkey-authenticate, next: done}
  - {id: done, use: authorization-code}
`

// The end of the context ends a game that waits for input.
func TestContextEndsGame(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	out, w := io.Pipe()
	g := play.Game{
		Read:  func() (flowtest.Definition, string, error) { return flowtest.Definition{Text: []byte(flow)}, "", nil },
		Lines: make(chan string), Out: w,
	}
	ended := make(chan error, 1)
	go func() {
		ended <- g.Play(ctx)
		w.Close()
	}()
	var printed strings.Builder
	for part := make([]byte, 100); !strings.HasSuffix(printed.String(), "> "); {
		n, err := out.Read(part)
		if err != nil {
			t.Fatal(err, printed.String())
		}
		printed.Write(part[:n])
	}
	stop()
	go func() { _, _ = io.Copy(io.Discard, out) }()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// A restart reads the files again.
func TestRestartReadsFiles(t *testing.T) {
	texts := []string{flow, strings.ReplaceAll(flow, "id: key", "id: passkey")}
	lines := make(chan string, 1)
	lines <- "restart"
	close(lines)
	var out strings.Builder
	g := play.Game{Lines: lines, Out: &out, Echo: true, Read: func() (flowtest.Definition, string, error) {
		text := texts[0]
		texts = texts[1:]
		return flowtest.Definition{Text: []byte(text)}, "users: {bob: {attributes: {username: bob}, passkeys: [phone]}}", nil
	}}
	if err := g.Play(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "waits at key.") || !strings.Contains(got, "waits at passkey.") {
		t.Errorf("got\n%s", got)
	}
}
