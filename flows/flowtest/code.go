package flowtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// factors returns the changes that give a user their second factors.
func (w *environment) factors(userID string, g Given) (changes []schemas.Change, err error) {
	if g.TOTP != "" {
		key := appKey(g.TOTP)
		w.codes[g.TOTP] = key
		app := nodes.SealTOTP(plainCipher{}, key, userID)
		app.CreatedAt = w.now
		changes = append(changes, schemas.SetTOTP{TOTP: app})
	}
	if len(g.RecoveryCodes) > 0 {
		given := schemas.SetRecoveryCodes{UserID: userID, At: w.now}
		for _, code := range g.RecoveryCodes {
			given.Hashes = append(given.Hashes, nodes.HashRecoveryCode(code))
		}
		changes = append(changes, given)
	}
	return changes, nil
}

// appKey derives the key of a device's app from its name, so that repeated runs of a
// scenario are equal.
func appKey(device string) totp.Key {
	h := sha256.Sum256([]byte(device))
	return totp.Key{Secret: base32.StdEncoding.EncodeToString(h[:20]), Algorithm: totp.SHA1, Digits: 6}
}

// enterCodes adds the codes of an answer to its inputs.
func (p *scenarioRun) enterCodes(send Send, inputs map[string]string) error {
	if send.RecoveryCode > 0 {
		code, err := p.recoveryCode(send.RecoveryCode)
		if err != nil {
			return err
		}
		inputs["recoveryCode"] = code
	}
	if send.MailedCode != "" {
		code, err := p.mailedCode(send.MailedCode)
		if err != nil {
			return err
		}
		inputs[codeInput] = code
	}
	if send.TOTP == nil {
		return nil
	}
	code, err := p.totpCode(*send.TOTP)
	if err != nil {
		return fmt.Errorf("the device %s: %w", send.TOTP.Device, err)
	}
	inputs[cmp.Or(send.TOTP.Input, "otp")] = code
	return nil
}

// totpCode returns the code that the app shows.
func (p *scenarioRun) totpCode(c Code) (string, error) {
	last, err := p.step(0)
	if err != nil {
		return "", err
	}
	if offered := last.Data.AdditionalData["totpSecret"]; offered != "" {
		p.codes[c.Device] = totp.Key{Secret: offered, Algorithm: totp.SHA1, Digits: 6}
	}
	key, has := p.codes[c.Device]
	if !has {
		return "", errors.New("it has no authenticator app, and the step offered no key")
	}
	ahead, err := duration(c.Ahead)
	if err != nil {
		return "", err
	}
	return key.Code(p.now.Add(ahead))
}

// recoveryCode returns the nth recovery code of the newest step that showed recovery
// codes.
func (p *scenarioRun) recoveryCode(n int) (string, error) {
	for i := range p.steps {
		step, err := p.step(i)
		if err != nil {
			return "", err
		}
		var codes []string
		if text := step.Data.AdditionalData["recoveryCodes"]; text == "" || json.Unmarshal([]byte(text), &codes) != nil {
			continue
		}
		if n > len(codes) {
			return "", fmt.Errorf("expected one of %d recovery codes, got %d", len(codes), n)
		}
		return codes[n-1], nil
	}
	return "", errors.New("the run has shown no recovery codes")
}

// plainCipher does not encrypt: it stores the text with the context that it is bound to.
type plainCipher struct{}

// Seal returns the text with its context.
func (plainCipher) Seal(text []byte, belongs string) []byte {
	return []byte(belongs + "\x00" + string(text))
}

// Open returns the text if the context is the same.
func (plainCipher) Open(sealed []byte, belongs string) ([]byte, error) {
	text, ok := strings.CutPrefix(string(sealed), belongs+"\x00")
	if !ok {
		return nil, errors.New("what is sealed belongs to something else")
	}
	return []byte(text), nil
}
