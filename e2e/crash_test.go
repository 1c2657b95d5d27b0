package e2e_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
)

func TestRunSurvivesACrash(t *testing.T) {
	t.Parallel()
	p := serve(t)
	device := passkeytest.New()
	s, err := p.begin("REGISTRATION")
	if err != nil {
		t.Fatal(err)
	}
	asked, err := p.next(s, "continue", map[string]string{"username": "ada"})
	if err != nil {
		t.Fatal(err)
	}

	p.kill()
	p.start()
	if _, err := p.createPasskey(asked, device); err != nil {
		t.Fatalf("the run does not go on with the same execution id, challenge token and options: %v", err)
	}

	p.kill()
	p.start()
	if _, err := p.signIn(device); err != nil {
		t.Errorf("after a second crash the new user cannot sign in: %v", err)
	}
	if _, err := p.next(asked, "passkey", nil); err == nil {
		t.Error("the finished run can be answered again after a crash")
	}
}

// Acknowledged changes survive a crash at any moment. Others may or may not.
func TestAcknowledgedSignUpsSurviveCrashes(t *testing.T) {
	t.Parallel()
	p := serve(t)
	rounds := 6
	if testing.Short() {
		rounds = 2
	}
	var devices []*passkeytest.Authenticator
	for round := range rounds {
		// A different number of acknowledgements each round moves the crash to another
		// point in the clients' runs.
		devices = append(devices, signUpUntil(p, fmt.Sprintf("user-%d", round), 8+5*round, p.kill)...)
		p.start()
	}
	for i, device := range devices {
		if _, err := p.signIn(device); err != nil {
			t.Fatalf("the acknowledged sign-up %d of %d is lost: %v", i+1, len(devices), err)
		}
	}
}

// signUpUntil has 8 clients sign up one user after the other. When enough sign-ups have
// been acknowledged it calls end, and each client stops at its first error. It returns the
// devices of all acknowledged users.
func signUpUntil(p *postern, prefix string, enough int, end func()) []*passkeytest.Authenticator {
	const clients = 8
	acknowledged := make(chan *passkeytest.Authenticator)
	var working sync.WaitGroup
	for client := range clients {
		working.Go(func() {
			for n := 0; ; n++ {
				device := passkeytest.New()
				if _, err := p.signUp(device, fmt.Sprintf("%s-%d-%d", prefix, client, n)); err != nil {
					return
				}
				acknowledged <- device
			}
		})
	}
	go func() {
		working.Wait()
		close(acknowledged)
	}()
	var devices []*passkeytest.Authenticator
	var ending sync.WaitGroup
	for device := range acknowledged {
		devices = append(devices, device)
		if len(devices) == enough {
			ending.Go(end)
		}
	}
	ending.Wait()
	return devices
}

// runTogether posts a body to /flow/execute n times at once and counts the replies by status
// and code.
func (p *postern) runTogether(n int, body object) map[string]int {
	answers := make(chan string, n)
	begin := make(chan struct{})
	for range n {
		go func() {
			<-begin
			r, err := p.post("/flow/execute", "", body)
			switch {
			case err != nil:
				answers <- err.Error()
			case r.status == 200:
				answers <- "200"
			default:
				answers <- fmt.Sprintf("%d %s", r.status, r.code())
			}
		}()
	}
	close(begin)
	tally := map[string]int{}
	for range n {
		tally[<-answers]++
	}
	return tally
}
