package flowtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// ceremony returns a device's answer to the ceremony of a step, as inputs.
func (p *scenarioRun) ceremony(c Ceremony) (map[string]string, error) {
	return p.answerOf("the device "+c.Device, c.Replay, c.Old, func(step *schemas.Step) (map[string]string, error) {
		data := step.Data.AdditionalData
		switch {
		case data["passkeyCreationOptions"] != "":
			return p.register(c, json.RawMessage(data["passkeyCreationOptions"]))
		case data["passkeyChallenge"] != "":
			return p.authenticate(c, json.RawMessage(data["passkeyChallenge"]))
		}
		return nil, fmt.Errorf("the step %q offers no ceremony", step.StepID)
	})
}

func (p *scenarioRun) register(c Ceremony, options json.RawMessage) (map[string]string, error) {
	a, err := p.device(c.Device).Register(options, cmp.Or(c.Origin, origin), c.authenticatorOptions()...)
	inputs := map[string]string{
		"credentialId": a.ID, "clientDataJSON": a.ClientDataJSON, "attestationObject": a.AttestationObject,
		"authenticatorAttachment": a.Attachment,
	}
	if c.Name != "" {
		inputs["credentialName"] = c.Name
	}
	return inputs, err
}

func (p *scenarioRun) authenticate(c Ceremony, options json.RawMessage) (map[string]string, error) {
	a, err := p.device(c.Device).Authenticate(options, cmp.Or(c.Origin, origin), c.authenticatorOptions()...)
	return map[string]string{
		"credentialId": a.ID, "clientDataJSON": a.ClientDataJSON, "authenticatorData": a.AuthenticatorData,
		"signature": a.Signature, "userHandle": a.UserHandle,
	}, err
}

// authenticatorOptions returns options that control the device's answer.
func (c Ceremony) authenticatorOptions() (list []passkeytest.CeremonyOption) {
	if c.Fault != "" {
		list = append(list, passkeytest.Fault(c.Fault))
	}
	if c.As != "" {
		list = append(list, passkeytest.As(userID(c.As)))
	}
	return list
}

// reason names why a device declined to answer, "" if it did not.
func reason(err error) string {
	for name, reason := range map[string]error{
		"cancelled": passkeytest.ErrCanceled, "excluded": passkeytest.ErrExcluded,
		"no-passkey": passkeytest.ErrNoPasskey, "unsuitable": passkeytest.ErrUnsuitable,
	} {
		if errors.Is(err, reason) {
			return name
		}
	}
	return ""
}

// options returns the options that create the device. The authority attests the passkeys
// of attested devices.
func (d Device) options(name string, authority *passkeytest.CA) []passkeytest.Option {
	list := []passkeytest.Option{passkeytest.Seed(name)}
	for _, o := range []struct {
		set    bool
		option passkeytest.Option
	}{
		{d.Attested, passkeytest.AttestedBy(authority)},
		{d.Synced, passkeytest.Synced()},
		{d.Uncounted, passkeytest.NoCounter()},
		{d.Unverified, passkeytest.CannotVerify()},
		{d.Attachment != "", passkeytest.Attachment(d.Attachment)},
		{len(d.Algorithms) > 0, passkeytest.Algorithms(namesOf(d.Algorithms, coseAlgorithm)...)},
	} {
		if o.set {
			list = append(list, o.option)
		}
	}
	return list
}

// coseAlgorithm returns the COSE identifier of an algorithm; the schema allows no others.
func coseAlgorithm(name string) int64 {
	return map[string]int64{"ES256": -7, "EdDSA": -8, "RS256": -257}[name]
}
