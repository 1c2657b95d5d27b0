package flowtest

import (
	"fmt"
	"maps"
	"regexp"
	"slices"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// Values of users that the file does not have.
const (
	// NewDevice is the name of a device without passkeys.
	NewDevice     = "new device"
	wrongPassword = "not the password"
	newPassword   = "a new long password 7"
	wrongCode     = "000000"
)

// answersToTry returns answers to the last step: those of each user of the file, of an unknown user,
// and wrong ones.
func (p *scenarioRun) answersToTry() (list []Send) {
	step := p.lastStep()
	list = append(list, p.ceremoniesToTry(step)...)
	list = append(list, p.providersToTry(step)...)
	actions := namesOf(step.Data.Actions, func(a schemas.Action) string { return a.Ref })
	for _, ref := range actions {
		list = append(list, Send{Action: ref})
	}
	if len(actions) == 0 {
		actions = []string{""}
	}
	if slices.ContainsFunc(step.Data.Inputs, func(in schemas.Input) bool { return !IsCeremonyInput(in.Identifier) }) {
		for _, ref := range actions {
			list = append(list, p.formsToTry(step, ref)...)
		}
	}
	return list
}

// IsCeremonyInput reports whether the input is a part of a passkey's answer.
func IsCeremonyInput(identifier string) bool {
	return slices.Contains([]string{
		"credentialId", "clientDataJSON", "authenticatorData", "signature", "userHandle", "attestationObject",
		"authenticatorAttachment", "credentialName", "transports",
	}, identifier)
}

// DeviceNames returns the names of the devices that hold passkeys of the users.
func (f *File) DeviceNames() (names []string) {
	for _, name := range slices.Sorted(maps.Keys(f.Users)) {
		names = append(names, f.Users[name].Passkeys...)
	}
	return names
}

// ceremoniesToTry returns the answers of authenticators: right ones and forged ones.
func (p *scenarioRun) ceremoniesToTry(step *schemas.Step) (list []Send) {
	data := step.Data.AdditionalData
	if data["passkeyChallenge"] == "" && data["passkeyCreationOptions"] == "" {
		return nil
	}
	devices := p.file.DeviceNames()
	if data["passkeyCreationOptions"] != "" || len(devices) == 0 {
		devices = append(devices, NewDevice)
	}
	for _, device := range devices {
		list = append(list, Send{Passkey: &Ceremony{Device: device}})
	}
	for _, fault := range []passkeytest.Fault{passkeytest.BadSignature, passkeytest.ForeignCredential} {
		list = append(list, Send{Passkey: &Ceremony{Device: devices[0], Fault: string(fault)}})
	}
	return list
}

// providersToTry returns the responses of the identity provider that the step redirects to.
func (p *scenarioRun) providersToTry(step *schemas.Step) (list []Send) {
	provider := providerOf(step)
	if provider == "" {
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(p.file.Users)) {
		if subject := p.file.Users[name].Identities[provider]; subject != "" {
			list = append(list, Send{Federated: &Federated{Subject: subject}})
		}
	}
	unknown := Federated{Subject: "unknown", Claims: map[string]any{"email": "new@example.org", "email_verified": true, "name": "New User"}}
	denied := Federated{Subject: "unknown", Fault: "denied"}
	return append(list, Send{Federated: &unknown}, Send{Federated: &denied})
}

// formsToTry returns the answers to a form, submitted by an action.
func (p *scenarioRun) formsToTry(step *schemas.Step, action string) (list []Send) {
	for _, name := range slices.Sorted(maps.Keys(p.file.Users)) {
		user := p.file.Users[name]
		list = append(list, p.fill(step, action, name, user))
		user.Password, user.TOTP, user.RecoveryCodes = "", "", nil
		list = append(list, p.fill(step, action, "", user))
	}
	unknown := Given{Attributes: map[string]any{"username": "newuser", "email": "new@example.org"}, Password: newPassword, TOTP: NewDevice}
	list = append(list, p.fill(step, action, "", unknown))
	return list
}

// fill fills in the form of a step as a user would. Without the user's credentials it fills in wrong
// ones.
func (p *scenarioRun) fill(step *schemas.Step, action, name string, user Given) Send {
	s := Send{Action: action, Inputs: map[string]string{}}
	for _, in := range step.Data.Inputs {
		switch {
		case IsCeremonyInput(in.Identifier):
		case in.Identifier == "code" && name != "" && len(p.Mails()) > 0:
			s.MailedCode = "newest"
		case in.Identifier == "invitation" && name != "":
			s.Invitation = name
		case in.Identifier == "recoveryCode" && len(user.RecoveryCodes) > 0:
			s.Inputs[in.Identifier] = user.RecoveryCodes[0]
		case in.Identifier == "otp" && p.hasApp(step, user):
			s.TOTP = &Code{Device: user.TOTP}
		default:
			s.Inputs[in.Identifier] = p.fitting(step, in, valueFor(in, user))
		}
	}
	return s
}

// fitting returns the value if it matches the pattern of the input, or else one that does. If none is found, the
// draft reports it.
func (p *scenarioRun) fitting(step *schemas.Step, in schemas.Input, value string) string {
	pattern, minLength, maxLength := patternOf(p.graph, step.StepID, in.Identifier)
	if whole, err := regexp.Compile(`^(?:` + pattern + `)$`); pattern == "" || err != nil || whole.MatchString(value) {
		return value
	}
	made, found := matching(pattern, minLength, maxLength)
	if !found {
		p.unmatched = fmt.Sprintf("no value was found for the pattern of the input %q of the node %q: give a user of the file the attribute %s", in.Identifier, step.StepID, in.Identifier)
		return value
	}
	return made
}

func (p *scenarioRun) hasApp(step *schemas.Step, user Given) bool {
	_, enrolled := p.codes[user.TOTP]
	return enrolled || user.TOTP != "" && step.Data.AdditionalData["totpSecret"] != ""
}

// valueFor returns a value of the user for an input.
func valueFor(in schemas.Input, user Given) string {
	if value, has := user.Attributes[in.Identifier]; has {
		return fmt.Sprint(value)
	}
	switch in.Type {
	case schemas.PasswordInput:
		if user.Password != "" {
			return user.Password
		}
		return wrongPassword
	case schemas.OTPInput:
		return wrongCode
	case schemas.EmailInput:
		return "new@example.org"
	case schemas.PhoneInput:
		return "+15550100"
	case schemas.NumberInput:
		return "1"
	case schemas.DateInput:
		return "2000-01-01"
	case schemas.SelectInput:
		return in.Options[0]
	}
	return "New"
}
