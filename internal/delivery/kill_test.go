package delivery_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/delivery"
	"github.com/postern-id/postern/schemas"
)

// victim is the variable that makes the test binary the process that is killed: it contains
// the path of the store.
const victim = "POSTERN_TEST_DELIVERY_VICTIM"

// A process that is killed while it sends loses nothing: another sends when the claim
// expires.
func TestKill(t *testing.T) {
	if path := os.Getenv(victim); path != "" {
		exitWhileSending(t, path)
	}
	path := filepath.Join(t.TempDir(), "postern.db")
	s := openStore(t, path)
	d := enqueue(t, s, "app", "body")
	killWhileSending(t, path, d.ID)

	got := make(chan schemas.Delivery, 1)
	take := delivery.SenderFunc(func(_ context.Context, d schemas.Delivery) error { got <- d; return nil })
	stop, _ := start(t, delivery.Queue{}, s, take)
	select {
	case <-got:
		t.Fatal("it was sent while the claim of another lasts")
	case <-time.After(50 * time.Millisecond):
	}
	stop()
	start(t, delivery.Queue{Now: func() time.Time { return time.Now().Add(10 * time.Minute) }}, s, take)
	if again := <-got; again.ID != d.ID || string(again.Body) != "body" || again.Attempts != 2 {
		t.Errorf("what is sent again is %+v, expected %+v", again, d)
	}
	eventually(t, func() bool { return left(t, s) == 0 })
}

// killWhileSending runs a process that sends from the store, and kills it while it sends
// the delivery.
func killWhileSending(t *testing.T, path, id string) {
	t.Helper()
	program := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKill$")
	program.Env = append(os.Environ(), victim+"="+path)
	output, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	workers := bufio.NewScanner(output)
	for workers.Scan() && !strings.Contains(workers.Text(), "sending "+id) {
		t.Log(workers.Text())
	}
	program.Process.Kill()
	if err := program.Wait(); err == nil || program.ProcessState.Exited() {
		t.Fatalf("the process has ended by itself: %v", err)
	}
}

// exitWhileSending sends until it is killed.
func exitWhileSending(t *testing.T, path string) {
	q := delivery.Queue{Store: openStore(t, path), Poll: time.Millisecond, Senders: map[string]delivery.Sender{
		"test": delivery.SenderFunc(func(_ context.Context, d schemas.Delivery) error {
			fmt.Println("sending " + d.ID)
			select {}
		}),
	}}
	q.Run(t.Context())
}
