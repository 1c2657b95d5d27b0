package flowtest

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/nodes"
	"github.com/postern-id/postern/schemas"
)

// factors returns the changes that give a user their second factors.
func (w *environment) factors(userID string, g Given) (changes []schemas.Change) {
	if g.TOTP != "" {
		key := appKey(g.TOTP)
		w.codes[g.TOTP] = key
		app := nodes.SealTOTP(plainCipher{}, key, userID)
		app.CreatedAt = w.now
		if g.TOTPUsed {
			app.LastUsedAt = &w.now
		}
		changes = append(changes, schemas.SetTOTP{TOTP: app})
	}
	if len(g.RecoveryCodes) > 0 {
		given := schemas.SetRecoveryCodes{UserID: userID, At: w.now}
		for _, code := range g.RecoveryCodes {
			given.Hashes = append(given.Hashes, nodes.HashRecoveryCode(code))
		}
		changes = append(changes, given)
	}
	return changes
}

// appKey derives the key of a device's app from its name, so that repeated runs of a
// scenario are equal.
func appKey(device string) totp.Key {
	h := sha256.Sum256([]byte(device))
	return totp.Key{Secret: base32.StdEncoding.EncodeToString(h[:20]), Algorithm: totp.SHA1, Digits: 6}
}

// totpCode returns the code that the app of a device shows. If the last step offered a key,
// the app enrolls it first.
func (p *scenarioRun) totpCode(c Code) (string, error) {
	last := p.steps[len(p.steps)-1]
	if offered := last.Data.AdditionalData["totpSecret"]; offered != "" {
		p.codes[c.Device] = totp.Key{Secret: offered, Algorithm: totp.SHA1, Digits: 6}
	}
	key, has := p.codes[c.Device]
	if !has {
		return "", fmt.Errorf("the device %s has no authenticator app, and the step offered no key", c.Device)
	}
	return key.Code(p.now.Add(duration(c.Ahead)))
}

// recoveryCode returns the nth recovery code of the newest step that showed recovery
// codes.
func (p *scenarioRun) recoveryCode(n int) (string, error) {
	for _, step := range slices.Backward(p.steps) {
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
		return nil, errors.New("the sealed text belongs to another owner")
	}
	return []byte(text), nil
}
