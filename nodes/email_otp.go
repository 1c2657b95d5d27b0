package nodes

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// A code by mail
//
// Whoever reads the mail of an account's address gets in. That is worth what the
// mailbox is: less than a password by the classes here, and no second factor beside
// one (NIST SP 800-63B §3.1.3.1 does not take e-mail for out-of-band authentication).
//
// The address is read anew when the code comes back: a code that went to an address
// which the account had before opens nothing, and the commit makes sure of that once
// more (schemas.VerifyEmail).
//
// A user whom the run has merely found gets a code only at an address that is verified.
// Whoever made the account may have entered somebody else's address; the owner of the
// mailbox would sign in to an account that others have the password of. A user whom the
// run created, or who has authenticated in it, verifies the address by the code.
//
// Of a name that is concealed the person learns nothing. There is the same question,
// the same throttle, and a mail in the queue that goes to nobody.

func emailOTPKind(d Deps) *engine.Kind {
	return &engine.Kind{
		Name: "email-otp",
		Doc: "Authenticates with a code that is sent to the user's email address: of the user whom the run knows, or makes. " +
			"A user who was merely found by a name must have verified the address before; one whom the run makes, or who has authenticated in it, verifies it by the code. A code is good for ten minutes, for five tries, and once. It takes a mail server (mail.host in the configuration); a server without one leaves by unavailable where the flow wires that.",
		With:     schemas.MustSchema("email-otp", emailOTPSchema),
		Asks:     true,
		Outcomes: append(emailOTPOutcomes(), alternativeOutcome()),
		New:      func(c *engine.Config) (engine.Executor, []schemas.Problem) { return newEmailOTP(c, d) },
	}
}

func emailOTPOutcomes() []engine.Outcome {
	return []engine.Outcome{
		{
			Name: "success", Doc: "the person typed the code, so they read the mail of the user's address",
			Establishes: append([]engine.Fact{engine.User, engine.Authenticated, engine.Findable}, provenFacts([]string{schemas.AMREmail}, schemas.ACRVouched)...),
		},
		{Name: "failure", Doc: "too many codes were wrong; left unwired, a new one is sent", Optional: true},
		{
			Name: missingOutcome,
			Doc: "the user has no email address, or was merely found and has not verified it. There is this outcome only where the flow wires it, else the run ends there. " +
				"Where the user was named and concealed, and has proved nothing yet, it is not taken: the code is asked for all the same",
		},
		{
			Name: unavailableOutcome,
			Doc:  "the server has no mail server, whoever the user is. There is this outcome only where the flow wires it, else the node fails",
		},
	}
}

const (
	missingOutcome     = "missing"
	unavailableOutcome = "unavailable"
	resendAction       = "resend"
	codeInput          = "code"
)

// What a code is good for, and how soon there is another.
const (
	defaultDigits = 6
	codeTTL       = 10 * time.Minute
	maxTries      = 5
	resendPause   = 30 * time.Second
)

const emailOTPSchema = `{
  "type": "object",
  "additionalProperties": false,
  "properties": {
    "digits": {"type": "integer", "minimum": 6, "maximum": 8, "default": 6, "description": "How many digits a code has; by default 6."},
    "title": {"type": "string", "minLength": 1, "default": "Check your email", "description": "The heading of the form; by default 'Check your email'."},
    "text": {"type": "string", "minLength": 1, "description": "A paragraph below the heading; by default that a code is on its way."},
    "label": {"type": "string", "minLength": 1, "default": "Code", "description": "What the person reads beside the input; by default 'Code'."},
    "alternatives": ` + alternativesSchema + `
  }
}`

type emailOTPWith struct {
	Digits int    `json:"digits,omitempty"`
	Title  string `json:"title,omitempty"`
	Text   string `json:"text,omitempty"`
	Label  string `json:"label,omitempty"`

	Alternatives alternatives `json:"alternatives,omitempty"`
}

type emailOTP struct {
	deps         Deps
	digits       int
	form         form
	alternatives alternatives
	outcomes     []engine.Outcome
	wired        []string      // those of missing and unavailable that lead somewhere
	claims       []engine.Fact // that somebody was named by an input of the flow
}

func newEmailOTP(c *engine.Config, d Deps) (engine.Executor, []schemas.Problem) {
	with, found := configure[emailOTPWith](c)
	o := &emailOTP{deps: d, digits: cmp.Or(with.Digits, defaultDigits), alternatives: with.Alternatives, form: form{
		title: cmp.Or(with.Title, "Check your email"),
		text:  cmp.Or(with.Text, "If this account has an email address, a code is on its way there. It is good for ten minutes."),
		fields: []field{{
			Identifier: codeInput, Type: schemas.OTPInput, Label: cmp.Or(with.Label, "Code"), Required: true, Autocomplete: "one-time-code",
		}},
		// To have a new code sent the field need not be filled in: see prompt.
		buttons: []button{{ref: submitAction, label: "Continue"}, {ref: resendAction, label: "Send a new code", variant: "TEXT", event: schemas.TriggerEvent}},
	}}
	o.form.buttons = append(o.form.buttons, with.Alternatives.buttons()...)
	found = append(found, with.Alternatives.check("success", "failure", missingOutcome, unavailableOutcome, submitAction, resendAction)...)
	ifWired := []string{missingOutcome, unavailableOutcome}
	o.wired = slices.DeleteFunc(slices.Clone(ifWired), func(name string) bool { return c.Node.Next.By[name] == "" })
	o.outcomes = slices.DeleteFunc(emailOTPOutcomes(), func(out engine.Outcome) bool {
		return slices.Contains(ifWired, out.Name) && !slices.Contains(o.wired, out.Name)
	})
	o.outcomes = append(o.outcomes, with.Alternatives.outcomes()...)
	for identifier := range c.Inputs {
		o.claims = append(o.claims, engine.ClaimFact(identifier))
	}
	return o, found
}

// Outcomes are success and failure, missing and unavailable where they are wired, and
// the alternatives.
func (o *emailOTP) Outcomes() []engine.Outcome { return o.outcomes }

// Collects tells that codes are secret.
func (o *emailOTP) Collects() map[string]schemas.InputType {
	return map[string]schemas.InputType{codeInput: schemas.OTPInput}
}

// Needs says that a code goes to somebody.
func (o *emailOTP) Needs() []engine.Need {
	return []engine.Need{{
		AnyOf: append([]engine.Fact{engine.User}, o.claims...),
		Why:   "a code goes to the address of a user",
		Fix:   "put user-resolve or user-create before it on every path",
	}}
}

// Execute sends a code on arrival and whenever it is asked for another, and checks
// what the person types.
func (o *emailOTP) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	if v.Answer == nil {
		return o.send(ctx, v, nil)
	}
	if d := o.alternatives.leaveByAlternative(v); d != nil {
		return d, nil
	}
	sent, err := readSentCode(v.NodeState)
	if err != nil {
		return nil, err
	}
	if v.Answer.Action == resendAction {
		return o.send(ctx, v, sent)
	}
	typed := strings.Join(strings.Fields(v.Answer.Inputs[codeInput]), "")
	if typed == "" {
		return o.ask(sent, "This is required.")
	}
	return o.check(ctx, v, sent, typed)
}

// address returns the address that codes go to, "" for none, and the user who has it;
// nil if there is no such user.
func (o *emailOTP) address(ctx context.Context, v *engine.Visit) (string, *schemas.User, error) {
	if !v.Subject.Known() && v.Subject.Name != "" {
		return "", nil, nil
	}
	user, err := subjectUser(ctx, o.deps.Users, v)
	if err != nil {
		return "", nil, err
	}
	if !v.Facts.Has(engine.Own) {
		return user.Identifier("email"), user, nil
	}
	return user.Text("email"), user, nil
}

// mustConceal reports whether the person must not learn if there is an account.
func mustConceal(v *engine.Visit) bool { return v.Subject.Name != "" && v.Authentication == nil }

// send queues a code and asks for it. Another that was sent before is void then; if
// it may not be sent, that other stays good.
func (o *emailOTP) send(ctx context.Context, v *engine.Visit, before *sentCode) (*engine.Decision, error) {
	to, user, err := o.address(ctx, v)
	if err != nil {
		return nil, err
	}
	if to == "" && !mustConceal(v) {
		return o.leaveMissing(), nil
	}
	if before != nil && v.Now.Before(before.SentAt.Add(resendPause)) {
		return o.postpone(before, schemas.Errorf(schemas.Throttled, schemas.CodeMailThrottled,
			"a code was sent a moment ago; wait for it, or have another sent in %v", before.SentAt.Add(resendPause).Sub(v.Now)))
	}
	code := newCode(o.digits)
	delivery, err := o.deps.Mails.Mail(ctx, mailAccount(v, to), schemas.Mail{
		To: to, Code: code, Minutes: int(codeTTL.Minutes()), Application: trustedName(v.Application), Language: v.Request.Language,
	}, v.Now)
	if schemas.HasClass(err, schemas.Throttled) {
		// An error would leave the run where it was, and a wrong code that led here not
		// counted.
		return o.postpone(before, schemas.AsError(err))
	}
	if schemas.HasCode(err, schemas.CodeMailNotConfigured) && slices.Contains(o.wired, unavailableOutcome) {
		return engine.LeaveBy(unavailableOutcome), nil
	}
	if err != nil {
		return nil, err
	}
	sent := &sentCode{SentAt: v.Now, ExpiresAt: v.Now.Add(codeTTL)}
	form := o.form
	if before != nil {
		form.text = "If this account has an email address, another code is on its way there. The one before is void."
	}
	d, err := askCode(form, sent.withMAC(o.mac(v, user, to, code)), "")
	if err != nil {
		return nil, err
	}
	d.Changes = []schemas.Change{schemas.QueueDelivery{Delivery: delivery}}
	if to != "" {
		d.Changes = append(d.Changes, event(v, "email_code.sent", v.Subject.UserID, nil))
	}
	return d, nil
}

// postpone asks for the code of before, if there is any, and says why no other was
// sent.
func (o *emailOTP) postpone(before *sentCode, why *schemas.Error) (*engine.Decision, error) {
	if before == nil {
		before = &sentCode{}
	}
	d, err := o.ask(before, "")
	if d != nil {
		d.Notice = why
	}
	return d, err
}

func (o *emailOTP) leaveMissing() *engine.Decision {
	if slices.Contains(o.wired, missingOutcome) {
		return engine.LeaveBy(missingOutcome)
	}
	return &engine.Decision{Fail: schemas.Errorf(schemas.Invalid, schemas.CodeNoEmailAddress,
		"this account has no email address to send a code to; sign in another way, or ask an administrator to add one")}
}

// ask asks for the code, and says what was wrong with the last one, if anything was.
func (o *emailOTP) ask(sent *sentCode, fault string) (*engine.Decision, error) {
	return askCode(o.form, sent, fault)
}

func askCode(f form, sent *sentCode, fault string) (*engine.Decision, error) {
	ask := f.ask()
	if fault != "" {
		ask.FieldErrors = []schemas.FieldError{{Identifier: codeInput, Message: fault}}
	}
	kept, err := sent.marshal()
	return &engine.Decision{Ask: ask, NodeState: kept}, err
}
