package flowtest

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
)

// ceremony returns a device's answer to the ceremony of a step, as inputs.
func (p *scenarioRun) ceremony(c Ceremony) (map[string]string, error) {
	if c.Replay {
		if p.answers[c.Device] == nil {
			return nil, fmt.Errorf("the device %s has no earlier answer to send again", c.Device)
		}
		return maps.Clone(p.answers[c.Device]), nil
	}
	n := 0
	if c.Old {
		n = 1
	}
	step, err := p.step(n)
	if err != nil {
		return nil, err
	}
	var inputs map[string]string
	switch data := step.Data.AdditionalData; {
	case data["passkeyCreationOptions"] != "":
		inputs, err = p.register(c, json.RawMessage(data["passkeyCreationOptions"]))
	case data["passkeyChallenge"] != "":
		inputs, err = p.authenticate(c, json.RawMessage(data["passkeyChallenge"]))
	default:
		err = fmt.Errorf("the step %q offers no ceremony", step.StepID)
	}
	if err != nil {
		return nil, fmt.Errorf("the device %s: %w", c.Device, err)
	}
	p.answers[c.Device] = maps.Clone(inputs)
	return inputs, nil
}

func (p *scenarioRun) register(c Ceremony, options json.RawMessage) (map[string]string, error) {
	a, err := p.device(c.Device).Register(options, cmp.Or(c.Origin, origin), c.authenticatorOptions()...)
	if err != nil {
		return nil, err
	}
	inputs := map[string]string{
		"credentialId": a.ID, "clientDataJSON": a.ClientDataJSON, "attestationObject": a.AttestationObject,
		"authenticatorAttachment": a.Attachment,
	}
	if c.Name != "" {
		inputs["credentialName"] = c.Name
	}
	return inputs, nil
}

func (p *scenarioRun) authenticate(c Ceremony, options json.RawMessage) (map[string]string, error) {
	a, err := p.device(c.Device).Authenticate(options, cmp.Or(c.Origin, origin), c.authenticatorOptions()...)
	if err != nil {
		return nil, err
	}
	return map[string]string{
		"credentialId": a.ID, "clientDataJSON": a.ClientDataJSON, "authenticatorData": a.AuthenticatorData,
		"signature": a.Signature, "userHandle": a.UserHandle,
	}, nil
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
	switch {
	case errors.Is(err, passkeytest.ErrCanceled):
		return "cancelled"
	case errors.Is(err, passkeytest.ErrExcluded):
		return "excluded"
	case errors.Is(err, passkeytest.ErrNoPasskey):
		return "no-passkey"
	case errors.Is(err, passkeytest.ErrUnsuitable):
		return "unsuitable"
	}
	return ""
}

// options returns the options that create the device. The authority attests the passkeys
// of attested devices.
func (d Device) options(name string, authority *passkeytest.CA) []passkeytest.Option {
	list := []passkeytest.Option{passkeytest.Seed(name)}
	if d.Attested {
		list = append(list, passkeytest.AttestedBy(authority))
	}
	if d.Synced {
		list = append(list, passkeytest.Synced())
	}
	if d.Uncounted {
		list = append(list, passkeytest.NoCounter())
	}
	if d.Unverified {
		list = append(list, passkeytest.CannotVerify())
	}
	if d.Attachment != "" {
		list = append(list, passkeytest.Attachment(d.Attachment))
	}
	if len(d.Algorithms) == 0 {
		return list
	}
	cose := map[string]int64{"ES256": -7, "EdDSA": -8, "RS256": -257}
	var known []int64
	for _, name := range d.Algorithms {
		known = append(known, cose[name]) // the schema allows no others
	}
	return append(list, passkeytest.Algorithms(known...))
}
