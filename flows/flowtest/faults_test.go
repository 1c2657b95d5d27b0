package flowtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/passkey/passkeytest"
)

const signInTwice = `handle: sign-in-twice
name: Sign in twice
flowType: AUTHENTICATION
nodes:
  - {id: anybody, use: passkey-authenticate, with: {mode: usernameless, userVerification: required}, next: named}
  - {id: named, use: passkey-authenticate, with: {userVerification: required}, next: done}
  - {id: done, use: authorization-code}
`

const enrolment = `handle: enrolment
name: Register a passkey
flowType: REGISTRATION
nodes:
  - {id: who, use: prompt, with: {inputs: [{identifier: username, type: TEXT_INPUT, required: true}], actions: [{ref: go}]}, next: create}
  - {id: create, use: user-create, next: {created: key, taken: who}}
  - {id: key, use: passkey-register, with: {userVerification: required, attestation: direct}, next: done}
  - {id: done, use: authorization-code}
`

// Both users have passkeys on the same two devices.
const twoPeople = `users:
  ada: {attributes: {username: ada}, passkeys: [laptop, tablet]}
  bob: {attributes: {username: bob}, passkeys: [laptop, tablet]}
scenarios:
`

// checks are the checks that a fault fails: in a usernameless authentication, in one of an
// identified user, and in a registration. "-" marks a fault without a meaning there.
type checks struct{ anybody, named, registration string }

const invalidValue = "-"

// accepted marks an answer that is valid: an identified user need not be named again.
const accepted = "accepted"

// eligibility is the check backup for a backup eligibility that has changed.
const eligibility = "backup eligibility"

// declined marks a fault for which the device sends nothing.
const declined = "declined"

func everyFault() map[passkeytest.Fault]checks {
	return map[passkeytest.Fault]checks{
		passkeytest.Canceled:          {declined, declined, declined},
		passkeytest.ForeignCredential: {"credential", "credential", "credential"},
		passkeytest.UnknownCredential: {"credential", "credential", invalidValue},
		passkeytest.WrongUserHandle:   {"user_handle", "user_handle", invalidValue},
		passkeytest.NoUserHandle:      {"user_handle", accepted, invalidValue},
		passkeytest.NotUTF8:           {"response", "response", "response"},
		passkeytest.NotJSON:           {"response", "response", "response"},
		passkeytest.WrongType:         {"type", "type", "type"},
		passkeytest.WrongChallenge:    {"challenge", "challenge", "challenge"},
		passkeytest.WrongOrigin:       {"origin", "origin", "origin"},
		passkeytest.CrossOrigin:       {"cross_origin", "cross_origin", "cross_origin"},
		passkeytest.TopOrigin:         {"cross_origin", "cross_origin", "cross_origin"},
		passkeytest.WrongRPID:         {"relying_party", "relying_party", "relying_party"},
		passkeytest.NoUP:              {"user_presence", "user_presence", "user_presence"},
		passkeytest.NoUV:              {"user_verification", "user_verification", "user_verification"},
		passkeytest.BSWithoutBE:       {"backup", "backup", "backup"},
		passkeytest.BEChanged:         {eligibility, eligibility, invalidValue},
		passkeytest.NoExtensionData:   {"response", "response", "response"},
		passkeytest.ShortData:         {"response", "response", invalidValue},
		passkeytest.TrailingBytes:     {"response", "response", "response"},
		passkeytest.NoAttestedData:    {invalidValue, invalidValue, "response"},
		passkeytest.AlgNotOffered:     {invalidValue, invalidValue, "algorithm"},
		passkeytest.OversizedID:       {"response", "response", "response"},
		passkeytest.UnknownFormat:     {invalidValue, invalidValue, "attestation"},
		passkeytest.NoneWithStatement: {invalidValue, invalidValue, "attestation"},
		passkeytest.BadSignature:      {"signature", "signature", "attestation"},
		passkeytest.OtherKey:          {"signature", "signature", invalidValue},
		passkeytest.CounterRegress:    {"counter", "counter", invalidValue},
		passkeytest.TakenCredential:   {invalidValue, invalidValue, "credential_exists"},
	}
}

// Every fault fails in every ceremony where it has a meaning, and at its own check.
func TestEveryFaultIsRefused(t *testing.T) {
	known := everyFault()
	for _, d := range passkeytest.Catalog() {
		c, ok := known[d.Fault]
		if !ok {
			t.Errorf("%s: nothing says which check it fails", d.Fault)
			continue
		}
		authentication, registration := d.Ceremony != "registration", d.Ceremony != "authentication"
		if (c.anybody != invalidValue) != authentication || (c.named != invalidValue) != authentication || (c.registration != invalidValue) != registration {
			t.Errorf("%s is a fault of %s; the table says otherwise", d.Fault, d.Ceremony)
		}
	}
	var signIns, enrolments strings.Builder
	for _, d := range passkeytest.Catalog() {
		c := known[d.Fault]
		// A counter can only decrease after it has counted.
		before := "{passkey: {device: tablet, as: ada}}, expect: {step: named}"
		if d.Fault == passkeytest.CounterRegress {
			fmt.Fprintf(&signIns, "  - name: named %s\n    steps: [{}, {send: {passkey: {device: tablet, as: ada}}}, {send: {passkey: {device: tablet, as: ada, fault: %s}}, expect: %s}]\n",
				d.Fault, d.Fault, c.expect(c.named, "named"))
			continue
		}
		if c.anybody != invalidValue {
			fmt.Fprintf(&signIns, "  - name: anybody %s\n    steps: [{}, {send: {passkey: {device: laptop, as: ada, fault: %s}}, expect: %s}]\n",
				d.Fault, d.Fault, c.expect(c.anybody, "anybody"))
			fmt.Fprintf(&signIns, "  - name: named %s\n    steps: [{}, {send: %s}, {send: {passkey: {device: laptop, as: ada, fault: %s}}, expect: %s}]\n",
				d.Fault, before, d.Fault, c.expect(c.named, "named"))
		}
		if c.registration != invalidValue {
			fmt.Fprintf(&enrolments, "  - name: %s\n    steps: [{}, {send: {action: go, inputs: {username: eve}}}, {send: {passkey: {device: laptop, fault: %s}}, expect: %s}]\n",
				d.Fault, d.Fault, c.expect(c.registration, "key"))
		}
	}
	mustPass(t, signInTwice, twoPeople+signIns.String())
	mustPass(t, enrolment, twoPeople+enrolments.String())
}

// expect returns the expectation for a fault that fails the check.
func (checks) expect(check, step string) string {
	switch check {
	case declined:
		return "{declined: cancelled, events: []}"
	case accepted:
		return "{status: COMPLETE, user: ada}"
	case "counter", eligibility: // the key may have been copied, so the audit log names its user
		check, _, _ = strings.Cut(check, " ")
		return "{step: " + step + ", error: passkey_verification_failed, check: " + check + ", events: [attempt.failed, {action: passkey.refused, user: ada, detail: {step: " + check + "}}]}"
	case "credential_exists":
		return "{step: " + step + ", error: credential_exists, users: 2, passkeys: {ada: 2, bob: 2}}"
	}
	return "{step: " + step + ", error: passkey_verification_failed, check: " + check + ", events: [attempt.failed], users: 2, passkeys: {ada: 2, bob: 2}}"
}

// Attackers replay earlier answers and send answers of other users.
func TestAnswersThatWereCorrectBefore(t *testing.T) {
	mustPass(t, signInTwice, twoPeople+`  - name: an answer answers no second question
    steps:
      - {}
      - send: {passkey: {device: laptop, as: ada}}
        expect: {step: named}
      - send: {passkey: {device: laptop, replay: true}}
        expect: {step: named, error: passkey_verification_failed, check: challenge}
  - name: nor the options before the last
    steps:
      - {}
      - send: {action: passkey}
      - send: {passkey: {device: laptop, as: ada, old: true}}
        expect: {step: anybody, error: passkey_verification_failed, check: challenge}
  - name: nor after it was refused
    steps:
      - {}
      - send: {passkey: {device: laptop, as: ada, origin: "https://evil.example"}}
        expect: {step: anybody, error: passkey_verification_failed, check: origin}
      - send: {passkey: {device: laptop, replay: true}}
        expect: {step: anybody, error: passkey_verification_failed, check: challenge}
  - name: five minutes are too long
    steps:
      - {}
      - send: {after: 5m, passkey: {device: laptop, as: ada}}
        expect: {step: anybody, error: passkey_verification_failed, check: expiry}
  - name: a user who is known has but their own passkeys
    steps:
      - {}
      - send: {passkey: {device: laptop, as: ada}}
        expect: {step: named}
      - send: {passkey: {device: laptop, as: bob}}
        expect: {declined: no-passkey}
      - send: {passkey: {device: laptop, as: bob, fault: foreign-credential}}
        expect: {step: named, error: passkey_verification_failed, check: credential}
  - name: any user may return to the question
    steps:
      - {}
      - send: {resume: true}
        expect: {step: anybody}
      - send: {passkey: {device: laptop, as: bob}, elsewhere: true}
        expect: {step: named}
`)
}

// Devices have the properties that the file lists.
func TestDevices(t *testing.T) {
	mustPass(t, enrolment, `users: {}
devices:
  cloud: {synced: true, algorithms: [RS256]}
  key: {attachment: cross-platform, uncounted: true, algorithms: [EdDSA]}
  bare: {unverified: true}
  made: {attested: true}
scenarios:
  - name: synced passkeys are of another class
    steps:
      - {}
      - send: {action: go, inputs: {username: ada}}
      - send: {passkey: {device: cloud, name: My cloud}}
        expect: {status: COMPLETE, values: {passkeyCredentialName: My cloud}, claims: {acr: "urn:postern:acr:mfa-phr", amr: [swk, pop, user, mfa]}, noClaims: [email]}
  - name: a security key
    steps:
      - {}
      - send: {action: go, inputs: {username: ada}}
      - send: {passkey: {device: key}}
        expect: {status: COMPLETE, claims: {acr: "urn:postern:acr:mfa-phr", amr: [pop, user, mfa]}}
  - name: one that says who made it
    steps:
      - {}
      - send: {action: go, inputs: {username: ada}}
      - send: {passkey: {device: made}}
        expect: {status: COMPLETE, claims: {acr: "urn:postern:acr:mfa-phrh", amr: [hwk, pop, user, mfa]}}
  - name: without a PIN it is not what is asked for
    steps:
      - {}
      - send: {action: go, inputs: {username: ada}}
      - send: {passkey: {device: bare}}
        expect: {declined: unsuitable}
`)
}

// mustPass runs the scenarios of a flow and fails the test unless all pass.
func mustPass(t *testing.T, flow, scenarios string) {
	t.Helper()
	report := runFile(t, write(t, flow, scenarios))
	for _, r := range report.Results {
		if r.Failure != nil {
			t.Errorf("%s\n%s\n%s", r.Name, r.Failure.Text("flow_test.yaml"), strings.Join(r.Transcript, "\n"))
		}
	}
}
