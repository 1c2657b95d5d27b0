package nodes

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/internal/datatest"
	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// descriptor is an entry of allowCredentials and excludeCredentials.
type descriptor struct{ ID, Type string }

// creation and assertion contain the options that the tests check.
type (
	creation struct {
		RP                     struct{ ID, Name string }
		User                   struct{ ID, Name, DisplayName string }
		ExcludeCredentials     []descriptor
		Attestation            string
		AuthenticatorSelection struct{ UserVerification, ResidentKey, AuthenticatorAttachment string }
	}
	assertion struct {
		Challenge, RPID, UserVerification string
		AllowCredentials                  []descriptor
	}
)

// options returns the options of a decision.
func options[T any](t *testing.T, d *engine.Decision, name string) T {
	t.Helper()
	var o T
	if d.Ask == nil {
		t.Fatalf("asked nothing: %+v", d)
	}
	if err := json.Unmarshal([]byte(d.Ask.Data[name]), &o); err != nil {
		t.Fatalf("%s is %q: %v", name, d.Ask.Data[name], err)
	}
	return o
}

// attest creates a passkey with the options of a step.
func attest(t *testing.T, device *passkeytest.Authenticator, asked *engine.Decision, hows ...passkeytest.CeremonyOption) passkey.RegistrationResponse {
	t.Helper()
	made, err := device.Register(json.RawMessage(asked.Ask.Data["passkeyCreationOptions"]), origin, hows...)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func registration(r passkey.RegistrationResponse, action, name string) func(*engine.Visit) {
	return answer(action, "credentialId", r.ID, "clientDataJSON", r.ClientDataJSON,
		"attestationObject", r.AttestationObject, "credentialName", name)
}

func authentication(r passkey.AuthenticationResponse, action string) func(*engine.Visit) {
	return answer(action, "credentialId", r.ID, "clientDataJSON", r.ClientDataJSON,
		"authenticatorData", r.AuthenticatorData, "signature", r.Signature, "userHandle", r.UserHandle)
}

func keeping(d *engine.Decision) func(*engine.Visit) {
	return func(v *engine.Visit) { v.NodeState = d.NodeState }
}

func grace() *schemas.User {
	return &schemas.User{ID: "grace", Attributes: map[string]any{"username": "grace", "name": "Grace Hopper"}}
}

func TestPasskeyRegisterAsks(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "passkey-register", `{"relyingPartyId": "example.com", "relyingPartyName": "Example",
		"userVerification": "required", "residentKey": "required", "authenticatorAttachment": "platform",
		"attestation": "direct", "label": "Save a passkey"}`, nil)
	d := run(t, exec, visit(known("bob")))
	o := options[creation](t, d, "passkeyCreationOptions")
	if o.RP.ID != "example.com" || o.RP.Name != "Example" || o.User.Name != "bob" || o.Attestation != "direct" {
		t.Errorf("options %+v", o)
	}
	if s := o.AuthenticatorSelection; s.UserVerification != "required" || s.ResidentKey != "required" || s.AuthenticatorAttachment != "platform" {
		t.Errorf("selection %+v", s)
	}
	if len(o.ExcludeCredentials) != 1 || o.ExcludeCredentials[0].ID != w.credentials[0].ID.String() {
		t.Errorf("excluded %+v: Bob's authenticator would register twice", o.ExcludeCredentials)
	}
	button := d.Ask.Components[0].Components[0]
	if button.ID != "passkey" || button.EventType != schemas.TriggerEvent || button.Label != "Save a passkey" || len(d.Ask.Actions) != 1 {
		t.Errorf("button %+v, actions %+v", button, d.Ask.Actions)
	}
	if !d.Ask.Implicit {
		t.Error("a browser's answer comes without an action")
	}
	if len(d.Ask.Inputs) != 6 || d.Ask.Inputs[3].Identifier != "credentialName" || d.Ask.Inputs[3].Required {
		t.Errorf("inputs %+v", d.Ask.Inputs)
	}
}

// TestSessionIsNotRevealed checks that only Keep contains the session.
func TestSessionIsNotRevealed(t *testing.T) {
	w := newFixture(t)
	for _, use := range []string{"passkey-register", "passkey-authenticate"} {
		d := run(t, w.make(t, use, `{}`, nil), visit(known("bob")))
		if len(d.NodeState) == 0 {
			t.Fatalf("%s keeps nothing", use)
		}
		var session map[string]any
		datatest.Unmarshal(t, d.NodeState, &session)
		d.NodeState = nil
		reported := datatest.Marshal(t, d)
		if strings.Contains(string(reported), "expiresAt") || strings.Contains(string(reported), `\"ceremony\"`) {
			t.Errorf("%s reveals the session: %s", use, reported)
		}
	}
}

func TestPasskeyRegister(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "passkey-register", `{}`, nil)
	v := []func(*engine.Visit){drafted(grace())}
	asked := run(t, exec, visit(v...))
	o := options[creation](t, asked, "passkeyCreationOptions")
	if o.User.DisplayName != "Grace Hopper" || len(o.ExcludeCredentials) != 0 {
		t.Errorf("options %+v", o)
	}
	made := attest(t, w.device, asked)
	d := left(t, run(t, exec, visit(append(v, keeping(asked), registration(made, "", "My laptop"))...)), "success")
	created, ok := d.Changes[0].(schemas.CreateCredential)
	if !ok || created.Credential.UserID != "grace" || created.Credential.ID.String() != made.ID || actions(d) != "passkey.registered" {
		t.Fatalf("changes %+v", d.Changes)
	}
	if d.Data["passkeyCredentialID"] != made.ID || d.Data["passkeyCredentialName"] != "My laptop" || d.Data["credentialCreatedAt"] != "2026-03-01T12:00:00Z" {
		t.Errorf("got %v", d.Data)
	}
	if strings.Join(methodsOf(d), " ") != "pop user mfa" || acrOf(d) != schemas.ACRMultiFactorPR {
		t.Errorf("methods %v, acr %s", methodsOf(d), acrOf(d))
	}
}

func TestPasskeyRegisterSynced(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "passkey-register", `{}`, nil)
	asked := run(t, exec, visit(drafted(grace())))
	made := attest(t, passkeytest.New(passkeytest.Synced()), asked)
	d := left(t, run(t, exec, visit(drafted(grace()), keeping(asked), registration(made, "passkey", ""))), "success")
	if !slices.Contains(methodsOf(d), "swk") || acrOf(d) != schemas.ACRMultiFactorPR || d.Data["passkeyCredentialName"] != "Passkey" {
		t.Errorf("methods %v, acr %s, data %v", methodsOf(d), acrOf(d), d.Data)
	}
}

// The new passkey replaces the others of the same user, except those that this run used.
func TestPasskeyRegisterRemovesOthers(t *testing.T) {
	w := newFixture(t)
	for id, owner := range map[string]string{"old": "ada", "used": "ada", "foreign": "bob"} {
		w.credentials = append(w.credentials, schemas.Credential{ID: schemas.Bytes(id), UserID: owner})
	}
	proved := func(v *engine.Visit) {
		v.Authentication = &engine.Authentication{Proofs: []schemas.Proof{{Kind: schemas.PasskeyProof, Of: schemas.Bytes("used").String()}}}
	}
	for _, with := range []string{`{}`, `{"removeOthers": true}`} {
		exec := w.make(t, "passkey-register", with, nil)
		asked := run(t, exec, visit(known("ada"), proved))
		made := attest(t, passkeytest.New(), asked)
		d := left(t, run(t, exec, visit(known("ada"), proved, keeping(asked), registration(made, "", ""))), "success")
		if got := actions(d); got != "passkey.registered" {
			t.Errorf("%s: the events are %q", with, got)
		}
		if with == `{}` {
			continue
		}
		created := d.Changes[0].(schemas.CreateCredential).Credential.ID
		i := slices.IndexFunc(d.Changes, func(c schemas.Change) bool { _, is := c.(schemas.RemoveCredentials); return is })
		removal, _ := d.Changes[max(i, 0)].(schemas.RemoveCredentials)
		if removal.UserID != "ada" || len(removal.Remove) != 1 || string(removal.Remove[0].ID) != "old" || removal.Remove[0].Event.Action != "passkey.deleted" ||
			len(removal.Keep) != 2 || string(removal.Keep[0]) != string(created) || string(removal.Keep[1]) != "used" {
			t.Errorf("the removal is %+v", removal)
		}
	}
	exec := w.make(t, "passkey-register", `{"removeOthers": true}`, nil)
	asked := run(t, exec, visit(drafted(grace())))
	made := attest(t, passkeytest.New(), asked)
	if d := run(t, exec, visit(drafted(grace()), keeping(asked), registration(made, "", ""))); actions(d) != "passkey.registered" {
		t.Errorf("a new user: the events are %q", actions(d))
	}
}

func TestPasskeyRegisterSkip(t *testing.T) {
	w := newFixture(t)
	optional := w.make(t, "passkey-register", `{"optional": true}`, nil)
	asked := run(t, optional, visit(known("ada")))
	if len(asked.Ask.Actions) != 2 || asked.Ask.Actions[1].Ref != "skip" {
		t.Errorf("actions %+v", asked.Ask.Actions)
	}
	left(t, run(t, optional, visit(known("ada"), keeping(asked), answer("skip"))), "skip")

	must := w.make(t, "passkey-register", `{}`, nil)
	if d := run(t, must, visit(known("ada"), keeping(asked), answer("skip"))); d.Outcome != "" {
		t.Errorf("left by %q what is not optional", d.Outcome)
	}

	again := run(t, must, visit(known("ada"), keeping(asked), answer("passkey")))
	if again.Ask == nil || again.Ask.Data["passkeyCreationOptions"] == asked.Ask.Data["passkeyCreationOptions"] || string(again.NodeState) == string(asked.NodeState) {
		t.Error("the action alone gave no fresh challenge")
	}
	made := attest(t, w.device, asked)
	d := left(t, run(t, must, visit(known("ada"), keeping(again), registration(made, "", ""))), "failure")
	noticed(t, d, schemas.CodePasskeyFailed)
}

func TestPasskeyRegisterRefusesAKnownCredential(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "passkey-register", `{}`, nil)
	asked := run(t, exec, visit(known("ada")))
	made := attest(t, w.device, asked)
	id, err := schemas.ParseBytes(made.ID)
	if err != nil {
		t.Fatal(err)
	}
	w.credentials = append(w.credentials, schemas.Credential{ID: id, UserID: "mallory"})
	d := left(t, run(t, exec, visit(known("ada"), keeping(asked), registration(made, "", ""))), "failure")
	noticed(t, d, "credential_exists")
	if len(d.Changes) != 0 {
		t.Errorf("changes %+v", d.Changes)
	}
}

func TestPasskeyRegisterFaults(t *testing.T) {
	for _, fault := range []passkeytest.Fault{passkeytest.WrongOrigin, passkeytest.WrongChallenge, passkeytest.WrongRPID, passkeytest.NoUP, passkeytest.CrossOrigin} {
		w := newFixture(t)
		exec := w.make(t, "passkey-register", `{}`, nil)
		asked := run(t, exec, visit(known("ada")))
		made := attest(t, w.device, asked, fault)
		d := left(t, run(t, exec, visit(known("ada"), keeping(asked), registration(made, "", ""))), "failure")
		noticed(t, d, schemas.CodePasskeyFailed)
		if len(d.Changes)+len(methodsOf(d))+len(d.Data) != 0 {
			t.Errorf("%s: a failure does something: %+v", fault, d)
		}
	}
}

func TestPasskeyAuthenticateAsks(t *testing.T) {
	tests := map[string]struct {
		with  string
		visit *engine.Visit
		list  bool // number of listed credentials
	}{
		"no name":                           {`{}`, visit(), false},
		"a user with a passkey":             {`{}`, visit(known("bob")), true},
		"a user without":                    {`{}`, visit(known("ada")), true},
		"an unknown name":                   {`{}`, visit(concealed("eve")), true},
		"a user, but usernameless":          {`{"mode": "usernameless"}`, visit(known("bob")), false},
		"a concealed one, but usernameless": {`{"mode": "usernameless"}`, visit(concealed("eve")), false},
		"identified":                        {`{"mode": "identified"}`, visit(known("bob")), true},
		"identified and concealed":          {`{"mode": "identified"}`, visit(concealed("eve")), true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			d := run(t, w.make(t, "passkey-authenticate", test.with, nil), test.visit)
			o := options[assertion](t, d, "passkeyChallenge")
			if (len(o.AllowCredentials) > 0) != test.list || o.RPID != "login.example.com" || o.Challenge == "" {
				t.Errorf("options %+v, credentials wanted: %v", o, test.list)
			}
			if !d.Ask.Implicit || len(d.Ask.Actions) != 1 || d.Ask.Actions[0].Ref != "passkey" {
				t.Errorf("asked %+v", d.Ask)
			}
			if _, ok := d.Ask.Data["passkeyMediation"]; ok {
				t.Error("mediation though it was not asked for")
			}
		})
	}
}

func TestPasskeyAuthenticateIdentifiedNeedsAName(t *testing.T) {
	exec := newFixture(t).make(t, "passkey-authenticate", `{"mode": "identified"}`, nil)
	if d, err := exec.Execute(t.Context(), visit()); err == nil {
		t.Errorf("asked %+v: any user's passkey would be accepted", d.Ask)
	}
}

// The transports of a passkey are stored, so that browsers offer the right device (finding
// 16 of the security audit of November 2026).
func TestAudit16TransportsAreKept(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "passkey-register", `{}`, nil)
	asked := run(t, exec, visit(drafted(grace())))
	r := attest(t, w.device, asked)
	said := func(v *engine.Visit) { v.Answer.Inputs["transports"] = "hybrid  internal 7" }
	made := left(t, run(t, exec, visit(drafted(grace()), keeping(asked), registration(r, "passkey", ""), said)), "success").Changes[0].(schemas.CreateCredential)
	if got := made.Credential.Transports; !slices.Equal(got, []string{"hybrid", "internal"}) {
		t.Errorf("kept %v", got)
	}
}

// TestDecoysAreStable compares the credentials listed for spellings of one name, and for
// different names.
func TestDecoysAreStable(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "passkey-authenticate", `{}`, nil)
	listed := func(v *engine.Visit) string {
		return options[assertion](t, run(t, exec, v), "passkeyChallenge").AllowCredentials[0].ID
	}
	first := listed(visit(concealed("Eve")))
	for _, same := range []string{"Eve", "eve", "EVE", "ｅｖｅ"} {
		if listed(visit(concealed(same))) != first {
			t.Errorf("%q gets another decoy than Eve: a user would not", same)
		}
	}
	for _, other := range []*engine.Visit{visit(concealed("eva")), visit(known("ada")), visit(known("bob"))} {
		if listed(other) == first {
			t.Errorf("%+v gets Eve's decoy", other.Subject)
		}
	}
	// Two names of one user get different decoys, as two unknown names do: equal decoys
	// would reveal that both names belong to one user.
	called := func(name string) func(*engine.Visit) { return func(v *engine.Visit) { v.Subject.Name = name } }
	if listed(visit(known("ada"), called("ada"))) == listed(visit(known("ada"), called("ada@example.org"))) {
		t.Error("the decoy reveals that two names belong to one user")
	}
	w.deps.DecoySecret = []byte("another secret, as long as the first")
	w.kinds = Kinds(w.deps)
	exec = w.make(t, "passkey-authenticate", `{}`, nil)
	if listed(visit(concealed("eve"))) == first {
		t.Error("a client that knows the name can recognize the decoy")
	}
}

// A copied authenticator is rejected and recorded in the audit log.
func TestPasskeyCounterRegressionIsAudited(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "passkey-authenticate", `{}`, nil)
	used := left(t, w.signIn(t, exec, nil), "success").Changes[0].(schemas.UseCredential)
	w.credentials[0].SignCount = used.SignCount
	d := left(t, w.signIn(t, exec, nil, passkeytest.CounterRegress), "failure")
	noticed(t, d, schemas.CodePasskeyFailed)
	if actions(d) != "passkey.refused" {
		t.Fatalf("events %s", actions(d))
	}
	if e := d.Changes[0].(schemas.RecordEvent).Event; e.UserID != w.credentials[0].UserID || e.UserID == "" {
		t.Errorf("the event is about the user %q, expected the owner of the passkey", e.UserID)
	}
	if d = left(t, w.signIn(t, exec, nil, passkeytest.BadSignature), "failure"); actions(d) != "" {
		t.Errorf("a guess at an unknown name fills the log: %s", actions(d))
	}
}

// The node rejects an authenticator of another attachment than configured.
func TestPasskeyRegisterAttachment(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "passkey-register", `{"authenticatorAttachment": "platform"}`, nil)
	for attachment, outcome := range map[string]string{"platform": "success", "": "success", "cross-platform": "failure"} {
		asked := run(t, exec, visit(drafted(grace())))
		r := attest(t, w.device, asked)
		r.Attachment = attachment
		said := func(v *engine.Visit) { v.Answer.Inputs["authenticatorAttachment"] = attachment }
		left(t, run(t, exec, visit(drafted(grace()), keeping(asked), registration(r, "passkey", ""), said)), outcome)
	}
}

// signIn answers the ceremony that exec offers on such a visit.
func (w *fixture) signIn(t *testing.T, exec engine.Executor, to []func(*engine.Visit), hows ...passkeytest.CeremonyOption) *engine.Decision {
	t.Helper()
	asked := run(t, exec, visit(to...))
	signed, err := w.device.Authenticate(json.RawMessage(asked.Ask.Data["passkeyChallenge"]), origin, hows...)
	if err != nil {
		t.Fatal(err)
	}
	return run(t, exec, visit(append(to, keeping(asked), authentication(signed, ""))...))
}

func TestPasskeyAuthenticate(t *testing.T) {
	type way = []func(*engine.Visit)
	tests := map[string]struct {
		with          string
		to            way
		subject       string // who the run turns to, "" when it keeps who it knows
		methods, acr_ string
	}{
		"usernameless":                {`{}`, nil, "bob", "pop user mfa", schemas.ACRMultiFactorPR},
		"identified":                  {`{}`, way{known("bob")}, "", "pop user mfa", schemas.ACRMultiFactorPR},
		"the right one, usernameless": {`{"mode": "usernameless"}`, way{known("bob")}, "", "pop user mfa", schemas.ACRMultiFactorPR},
		"after a password":            {`{}`, way{known("bob"), authenticated(schemas.ACRPassword, "pwd")}, "", "pop user mfa", schemas.ACRMultiFactorPR},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			d := left(t, w.signIn(t, w.make(t, "passkey-authenticate", test.with, nil), test.to), "success")
			switch {
			case test.subject == "" && d.Subject != nil:
				t.Errorf("the run turned to %+v", d.Subject)
			case test.subject != "" && (d.Subject == nil || d.Subject.UserID != test.subject):
				t.Errorf("the run did not turn to %s: %+v", test.subject, d.Subject)
			}
			if got := strings.Join(methodsOf(d), " "); got != test.methods || acrOf(d) != test.acr_ {
				t.Errorf("methods %s, acr %s", got, acrOf(d))
			}
			use, ok := d.Changes[0].(schemas.UseCredential)
			if !ok || use.SignCount == 0 || actions(d) != "passkey.used" {
				t.Errorf("changes %+v", d.Changes)
			}
			if e := d.Changes[1].(schemas.RecordEvent).Event; e.UserID != "bob" || e.ApplicationID != "app-1" || e.ExecutionDigest != schemas.DigestExecution("run-1") {
				t.Errorf("event %+v", e)
			}
		})
	}
}

func TestPasskeyAuthenticateRefuses(t *testing.T) {
	type way = []func(*engine.Visit)
	tests := map[string]struct {
		with string
		to   way
		how  passkeytest.CeremonyOption

		reason string // for the audit log only
	}{
		"another user's passkey":                       {`{}`, way{known("ada")}, passkeytest.ForeignCredential, schemas.ReasonPasskeyUnlisted},
		"another user's passkey, usernameless":         {`{"mode": "usernameless"}`, way{known("ada")}, passkeytest.As("bob"), schemas.ReasonPasskeyOther},
		"a passkey for an unknown name":                {`{}`, way{concealed("eve")}, passkeytest.ForeignCredential, schemas.ReasonUnknownUser},
		"the same, usernameless":                       {`{"mode": "usernameless"}`, way{concealed("eve")}, passkeytest.As("bob"), schemas.ReasonUnknownUser},
		"a bad signature":                              {`{}`, way{known("bob")}, passkeytest.BadSignature, schemas.PasskeyReasonPrefix + "signature"},
		"another page":                                 {`{}`, nil, passkeytest.WrongOrigin, schemas.PasskeyReasonPrefix + "origin"},
		"no user handle where it identifies the user":  {`{}`, nil, passkeytest.NoUserHandle, schemas.PasskeyReasonPrefix + "user_handle"},
		"a user to be, who cannot have a passkey":      {`{}`, way{drafted(grace())}, passkeytest.ForeignCredential, schemas.ReasonPasskeyUnlisted},
		"user verification where the node asks for it": {`{"userVerification": "required"}`, nil, passkeytest.NoUV, schemas.PasskeyReasonPrefix + "user_verification"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newFixture(t)
			d := left(t, w.signIn(t, w.make(t, "passkey-authenticate", test.with, nil), test.to, test.how), "failure")
			if noticed(t, d, schemas.CodePasskeyFailed); d.Reason != test.reason {
				t.Errorf("the reason %q, want %q", d.Reason, test.reason)
			}
			if d.Subject != nil || len(methodsOf(d))+len(d.Changes) != 0 {
				t.Errorf("a failure does something: %+v", d)
			}
		})
	}
}

// TestPasskeyOfAnotherUserIsNotRevealed answers with the attacker's own passkey for an existing and
// an unknown user: the replies must not differ.
func TestPasskeyOfAnotherUserIsNotRevealed(t *testing.T) {
	for _, with := range []string{`{}`, `{"mode": "usernameless"}`} {
		how := passkeytest.CeremonyOption(passkeytest.ForeignCredential)
		if with != `{}` {
			how = passkeytest.As("bob")
		}
		w := newFixture(t)
		w.enrol(t, "ada")
		exec := w.make(t, "passkey-authenticate", with, nil)
		there := w.signIn(t, exec, []func(*engine.Visit){known("ada")}, how)
		missing := w.signIn(t, exec, []func(*engine.Visit){concealed("eve")}, how)
		if there.Notice.Error() != missing.Notice.Error() {
			t.Errorf("%s: %q for a user, %q without one", with, there.Notice, missing.Notice)
		}
	}
}

func TestPasskeyAuthenticateWithARemovedPasskey(t *testing.T) {
	w := newFixture(t)
	w.credentials = nil
	d := left(t, w.signIn(t, w.make(t, "passkey-authenticate", `{}`, nil), nil), "failure")
	noticed(t, d, schemas.CodePasskeyFailed)
	if !strings.Contains(d.Notice.Description.DefaultValue, "passkey is unknown") || d.Reason != schemas.ReasonPasskeyUnknown {
		t.Errorf("notice %v, reason %q", d.Notice, d.Reason)
	}
}

func TestPasskeyAuthenticateAlternatives(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "passkey-authenticate", `{"mediation": "conditional", "alternatives": [{"ref": "password", "label": "Use your password"}]}`, nil)
	asked := run(t, exec, visit())
	if asked.Ask.Data["passkeyMediation"] != "conditional" || len(asked.Ask.Actions) != 2 || asked.Ask.Components[0].Components[1].EventType != schemas.SubmitEvent {
		t.Errorf("asked %+v", asked.Ask)
	}
	left(t, run(t, exec, visit(keeping(asked), answer("password"))), "password")

	again := run(t, exec, visit(keeping(asked), answer("passkey")))
	if again.Ask == nil || again.Ask.Data["passkeyChallenge"] == asked.Ask.Data["passkeyChallenge"] {
		t.Fatal("the action alone gave no fresh challenge")
	}
	old, err := w.device.Authenticate(json.RawMessage(asked.Ask.Data["passkeyChallenge"]), origin)
	if err != nil {
		t.Fatal(err)
	}
	noticed(t, left(t, run(t, exec, visit(keeping(again), authentication(old, "passkey"))), "failure"), schemas.CodePasskeyFailed)

	half := run(t, exec, visit(keeping(again), answer("passkey", "credentialId", old.ID)))
	noticed(t, left(t, half, "failure"), schemas.CodePasskeyFailed)
}

func TestPasskeyAlternativesMustBeNew(t *testing.T) {
	w := newFixture(t)
	for _, ref := range []string{"success", "failure", "passkey"} {
		_, problems := w.try("passkey-authenticate", `{"alternatives": [{"ref": "`+ref+`"}]}`, nil, schemas.Next{})
		if got := texts(problems); !strings.Contains(got, "alternatives[0].ref") {
			t.Errorf("%s: %q", ref, got)
		}
	}
	_, problems := w.try("passkey-authenticate", `{"alternatives": [{"ref": "a"}, {"ref": "a"}]}`, nil, schemas.Next{})
	if got := texts(problems); !strings.Contains(got, "alternatives[1].ref") {
		t.Errorf("twice: %q", got)
	}
}

// TestPasskeyMisconfigured configures a relying party ID that matches no origin.
func TestPasskeyMisconfigured(t *testing.T) {
	w := newFixture(t)
	for _, use := range []string{"passkey-register", "passkey-authenticate"} {
		_, err := w.make(t, use, `{"relyingPartyId": "example.net"}`, nil).Execute(t.Context(), visit(known("bob")))
		if !schemas.HasCode(err, schemas.CodePasskeyConfig) {
			t.Errorf("%s: %v", use, err)
		}
	}
}

func TestPasskeyOriginsOfTheApplication(t *testing.T) {
	w := newFixture(t)
	exec := w.make(t, "passkey-authenticate", `{"relyingPartyId": "example.com"}`, nil)
	shop := func(v *engine.Visit) {
		v.Application = &schemas.Application{ID: "shop", PasskeyAllowedOrigins: []string{"https://shop.example.com"}}
	}
	asked := run(t, exec, visit(shop))
	signed, err := passkeytest.New().Authenticate(json.RawMessage(asked.Ask.Data["passkeyChallenge"]), "https://shop.example.com", passkeytest.ForeignCredential)
	if err != nil {
		t.Fatal(err)
	}
	d := left(t, run(t, exec, visit(shop, keeping(asked), authentication(signed, ""))), "failure")
	if !strings.Contains(d.Notice.Error(), "passkey is unknown") {
		t.Errorf("the origin was refused: %v", d.Notice)
	}
}

func TestPasskeyFailsWithTheStore(t *testing.T) {
	w := newFixture(t)
	w.broken = errors.New("disk on fire")
	for _, use := range []string{"passkey-register", "passkey-authenticate"} {
		if _, err := w.make(t, use, `{}`, nil).Execute(t.Context(), visit(known("bob"))); !errors.Is(err, w.broken) {
			t.Errorf("%s: %v", use, err)
		}
	}
}
