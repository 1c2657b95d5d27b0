package e2e_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"sync"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// fact is a kind of state of a user that changes.
type fact string

const (
	factAccount  fact = "account"  // exists
	factTokens   fact = "tokens"   // live or revoked
	factPassword fact = "password" // the password
	factStatus   fact = "status"   // active or disabled
	factRole     fact = "role"     // granted or removed
)

// story is the ledger of one user; one client signs the user up and changes the account. A fact is the last
// acknowledged value. While a change is not acknowledged its fact is missing: either value is
// right.
type story struct {
	*torture
	client *tortureClient
	name   string
	device *passkeytest.Authenticator
	userID string
	tokens tokens
	former string // a password that no longer works
	facts  map[fact]string
	stop   <-chan struct{}
}

// change sends a change and records the acknowledgement.
func (s *story) change(f fact, value string, send func() error) error {
	delete(s.facts, f)
	err := send()
	if err == nil {
		s.facts[f] = value
		s.acknowledge(string(f) + " " + kindOf(f, value))
	}
	return err
}

// kindOf names an acknowledgement without its random part.
func kindOf(f fact, value string) string {
	if f == factPassword {
		return "changed"
	}
	return value
}

// run performs the story until its end, or until a reply is lost. A refusal of a change that must
// succeed is a violation: the server lost what the change depends on.
func (s *story) run(random *rand.Rand) {
	err := s.signUp()
	if err == nil {
		err = s.signIn(random.IntN(3) == 0)
	}
	if err == nil && s.facts[factTokens] == "live" {
		acts := []func() error{s.refreshTwice, s.revoke, s.endSession, s.changePassword, s.disable, s.disableAndEnable, s.grant, s.grantAndRemove}
		err = acts[random.IntN(len(acts))]()
	}
	if isRefusal(err) {
		s.violate("refused", "%s: %v; acknowledged: %v", s.name, err, s.facts)
	}
}

// signUp creates the user with a passkey. If the reply to the last step is lost, the client sends
// the same answer again, as a page does after a reload.
func (s *story) signUp() error {
	step, err := s.client.execute(object{"applicationId": s.application.ID, "flowType": "REGISTRATION"})
	if err != nil {
		return err
	}
	step, err = s.client.execute(answerTo(step, "continue", map[string]string{"username": s.name}))
	if err != nil {
		return err
	}
	inputs, err := creationInputs(step, s.device, s.base)
	if err != nil {
		return err
	}
	answer, attempts := answerTo(step, "passkey", inputs), 0
	err = s.change(factAccount, "exists", func() error {
		return insist(s.stop, func() error {
			attempts++
			step, err := s.client.execute(answer)
			if err == nil && step.FlowStatus != schemas.Complete {
				err = &refusal{"the sign-up of " + s.name, http.StatusOK, fmt.Sprint(step.FlowStatus, " at ", step.StepID)}
			}
			return err
		})
	})
	if attempts > 1 && isRefusal(err) {
		return errors.New("an earlier answer was accepted") // the account may exist
	}
	return err
}

// signIn signs in with the passkey and redeems the code, several times at once if contested: that
// revokes the tokens.
func (s *story) signIn(contested bool) error {
	page, err := s.client.follow(authorization(s.application.ClientID, s.base))
	if err != nil {
		return err
	}
	step, err := s.client.execute(object{"executionId": page.Get("executionId")})
	if err != nil {
		return err
	}
	inputs, err := requestInputs(step, s.device, s.base)
	if err != nil {
		return err
	}
	step, err = s.client.execute(answerTo(step, "passkey", inputs))
	if err != nil {
		return err
	}
	back, err := s.client.follow(step.Data.RedirectURL)
	if err != nil {
		return err
	}
	if contested {
		return s.contest(back.Get("code"))
	}
	if err := s.change(factTokens, "live", func() error { return s.redeem(back.Get("code"), &s.tokens) }); err != nil {
		return err
	}
	var me struct{ ID string }
	if err := s.client.json(http.MethodGet, "/users/me", s.tokens.Access, nil, &me); err != nil {
		return err
	}
	s.userID = me.ID
	return nil
}

func (s *story) redeem(code string, into *tokens) error {
	return s.client.form("/oauth2/token", url.Values{"grant_type": {"authorization_code"}, "client_id": {s.application.ClientID}, "code": {code},
		"code_verifier": {codeVerifier}, "redirect_uri": {tortureRedirect}}, into)
}

// contest redeems a code several times at once and then until the server has answered. At most one
// reply may contain tokens, before and after any restart.
func (s *story) contest(code string) error {
	var mu sync.Mutex
	granted := 0
	redeem := func() error {
		var got tokens
		err := s.redeem(code, &got)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			granted++
		}
		return err
	}
	var working sync.WaitGroup
	for range 3 {
		working.Go(func() { _ = redeem() })
	}
	working.Wait()
	err := insist(s.stop, redeem)
	if err == nil {
		err = insist(s.stop, redeem)
	}
	if granted > 1 {
		s.violate("doubled", "%s: %d replies to one code contain tokens", s.name, granted)
	}
	if isRefusal(err) {
		s.acknowledge("code rejected when used again")
		return nil
	}
	return err
}

func (s *story) refresh(t tokens, into *tokens) error {
	return s.client.form("/oauth2/token", url.Values{"grant_type": {"refresh_token"}, "client_id": {s.application.ClientID}, "refresh_token": {t.Refresh}}, into)
}

func (s *story) refreshTwice() error {
	for range 2 {
		var next tokens
		if err := s.change(factTokens, "live", func() error { return s.refresh(s.tokens, &next) }); err != nil {
			return err
		}
		s.tokens = next
	}
	return nil
}

// revoke revokes the refresh token and with it the access tokens.
func (s *story) revoke() error {
	return s.change(factTokens, "revoked", func() error {
		return s.client.form("/oauth2/revoke", url.Values{"token": {s.tokens.Refresh}, "client_id": {s.application.ClientID}}, nil)
	})
}

func (s *story) endSession() error {
	return s.change(factTokens, "revoked", func() error {
		return s.client.json(http.MethodDelete, "/users/"+s.userID+"/sessions", s.admin(), nil, nil)
	})
}

// changePassword sets a password twice. It does not follow what that does to other sessions.
func (s *story) changePassword() error {
	for i := range 2 {
		delete(s.facts, factTokens)
		password := fmt.Sprintf("Tarn-ferry-slate-%s-%d", s.name, i)
		s.former = s.facts[factPassword]
		err := s.change(factPassword, password, func() error {
			return s.client.json(http.MethodPut, "/users/me/password", s.tokens.Access, object{"password": password}, nil)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// setStatus sets the status; becoming disabled also ends the sessions.
func (s *story) setStatus(status string) error {
	patch := func() error {
		return s.client.json(http.MethodPatch, "/users/"+s.userID, s.admin(), object{"status": status}, nil)
	}
	if status == "active" {
		return s.change(factStatus, status, patch)
	}
	return s.change(factTokens, "revoked", func() error { return s.change(factStatus, status, patch) })
}

func (s *story) disable() error { return s.setStatus("disabled") }

func (s *story) disableAndEnable() error {
	if err := s.disable(); err != nil {
		return err
	}
	return s.setStatus("active")
}

func (s *story) assign(method, value string) error {
	return s.change(factRole, value, func() error {
		return s.client.json(method, "/roles/"+s.role+"/assignments/user/"+s.userID, s.admin(), nil, nil)
	})
}

func (s *story) grant() error { return s.assign(http.MethodPut, "granted") }

func (s *story) grantAndRemove() error {
	if err := s.grant(); err != nil {
		return err
	}
	return s.assign(http.MethodDelete, "removed")
}
