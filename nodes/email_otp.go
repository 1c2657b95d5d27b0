package nodes

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// A mailed code
//
// Anyone who reads the mail of an account's address can sign in. That is worth what the mailbox is
// worth: less than a password in the order of classes, and it is not a second factor (NIST SP
// 800-63B section 3.1.3.1 does not accept email for out-of-band authentication).
//
// The address is read again when the code arrives: a code for an earlier address of the account is
// not accepted, and the commit checks that again (schemas.VerifyEmail).
//
// A user that the run only identified gets a code only at a verified address. Otherwise the creator
// of the account could have entered another person's address, and the owner of the mailbox would
// sign in to an account whose password the creator knows. A user that the run created or
// authenticated verifies the address with the code.
//
// A concealed name reveals nothing: the same step, the same throttling, and a mail in the queue
// without a recipient.

func emailOTPKind(d Deps) declared {
	return configured[emailOTP](d, engine.Kind{
		Name: "email-otp",
		Doc: "Authenticates with a code that is sent to the email address of the user that the run has identified or creates. " +
			"A user who was only identified must have a verified address; a user that the run creates or has authenticated verifies the address with the code. A code is valid for ten minutes, for five attempts, and once. The node needs a mail server (mail.host in the configuration); without one, it takes unavailable if next has a target for that outcome.",
		Asks: true,
		Outcomes: []engine.Outcome{
			engine.On("success", engine.Effect{Mail: engine.NeedsMail, Proves: engine.Mailbox}, engine.Outcome{
				Doc:         "the user entered the code, so they can read mail to the user's address",
				Establishes: append([]engine.Fact{engine.User, engine.Authenticated, engine.Findable, engine.AttributeFact("email"), engine.AttributeFact(schemas.EmailVerified)}, provenFacts([]string{schemas.AMREmail}, schemas.ACRVouched)...),
			}),
			engine.On("failure", engine.NoEffect(), engine.Outcome{Doc: "too many codes were wrong; without a target, a new code is sent", Optional: true}),
			engine.On(missingOutcome, engine.Effect{Given: []engine.Item{engine.NoAddress}}, engine.Outcome{
				Doc: "the user has no email address, or was only identified and has not verified it. The outcome exists only if next has a target for it; otherwise the run ends here. It " +
					"is not taken if the user was identified with conceal and has not authenticated: the node asks for the code anyway",
			}),
			engine.On(unavailableOutcome, engine.Effect{Mail: engine.NeedsNoMail}, engine.Outcome{
				Doc: "no mail server is configured; taken for every user. The outcome exists only if next has a target for it; otherwise the node fails",
			}),
			alternativeOutcome(),
		},
	}, errorCodes{schemas.CodeCanceled, schemas.CodeInvalidCode, schemas.CodeMailThrottled, schemas.CodeNoEmailAddress, schemas.CodeMailNotConfigured},
		row{"success, failure (optional), missing and unavailable (each only if `next` names it), its alternatives", "an authenticated user; a verified email address (the attributes `email` and `email_verified`)"})
}

const (
	missingOutcome     = "missing"
	unavailableOutcome = "unavailable"
	resendAction       = "resend"
	codeInput          = "code"
)

// Limits of a code, and the pause before the next one.
const (
	defaultDigits = 6
	codeTTL       = 10 * time.Minute
	maxTries      = 5
	resendPause   = 30 * time.Second
)

type emailOTP struct {
	node
	Digits       int          `json:"digits,omitempty" min:"6" max:"8" default:"6" doc:"The number of digits of a code. Default: 6."`
	Title        string       `json:"title,omitempty" min:"1" default:"Check your email" doc:"The heading of the form. Default: 'Check your email'."`
	Text         string       `json:"text,omitempty" min:"1" doc:"A paragraph below the heading. Default: a text that announces the code."`
	Label        string       `json:"label,omitempty" min:"1" default:"Code" doc:"The label of the input. Default: 'Code'."`
	Alternatives alternatives `json:"alternatives,omitempty"`
}

// prepare requires a user to send the code to. It omits the outcomes missing and unavailable if they
// are not wired.
func (o *emailOTP) prepare(c *engine.Config) (found []schemas.Problem) {
	o.form = form{
		title: cmp.Or(o.Title, "Check your email"),
		text:  cmp.Or(o.Text, "If this account has an email address, we sent a code there. It is valid for ten minutes."),
		fields: []field{{
			Identifier: codeInput, Type: schemas.OTPInput, Label: cmp.Or(o.Label, "Code"), Required: true, Autocomplete: "one-time-code",
		}},
		// Requesting a new code does not require the field: see prompt.
		buttons: []button{{ref: submitAction, label: "Continue"}, {ref: resendAction, label: "Send a new code", variant: "TEXT", event: schemas.TriggerEvent}},
	}
	o.form.buttons = append(o.form.buttons, o.Alternatives.buttons()...)
	o.collects = map[string]schemas.InputType{codeInput: schemas.OTPInput}
	o.needs = []engine.Need{{
		AnyOf: append([]engine.Fact{engine.User}, claimFacts(c)...),
		Why:   "the code is sent to the user's address",
		Fix:   "put user-resolve or user-create before it on every path",
	}}
	o.outcomes, found = o.Alternatives.addTo(o.outcomes, submitAction, resendAction)
	o.outcomes = withoutUnwired(c, o.outcomes, missingOutcome, unavailableOutcome)
	if o.deps.NoMail && !o.has(unavailableOutcome) {
		found = append(found, errNoMailServer())
	}
	return found
}

// errNoMailServer reports a node that sends mail in a flow for a server that sends none.
func errNoMailServer() schemas.Problem {
	return problem("", "this server sends no mail, so the node would always fail: set mail.host in the configuration of the server, or give the outcome unavailable a target in next")
}

// Execute sends a code on arrival and on request, and checks the entered code.
func (o *emailOTP) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	d, err := o.decide(ctx, v)
	if d != nil {
		d.Conceal = mustConceal(v)
	}
	return d, err
}

func (o *emailOTP) decide(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	if v.Answer == nil {
		return o.send(ctx, v, nil)
	}
	if d := o.deps.leaveByAlternative(v, o.Alternatives); d != nil {
		return d, nil
	}
	sent := &sentCode{}
	if err := json.Unmarshal(v.NodeState, sent); err != nil {
		return nil, fmt.Errorf("decode the sent code: %w", err)
	}
	if v.Answer.Action == resendAction {
		return o.send(ctx, v, sent)
	}
	typed := strings.Join(strings.Fields(v.Answer.Inputs[codeInput]), "")
	if typed == "" {
		return o.ask(sent, "This is required."), nil
	}
	return o.check(ctx, v, sent, typed)
}

// address returns the address for codes, "" for none, and its user, nil if there is no such user.
func (o *emailOTP) address(ctx context.Context, v *engine.Visit) (string, *schemas.User, error) {
	if !v.Subject.Known() && v.Subject.Name != "" {
		return "", nil, nil
	}
	user, err := o.deps.subjectUser(ctx, v)
	if err != nil {
		return "", nil, err
	}
	if !v.Facts.Has(engine.Own) {
		return user.Identifier("email"), user, nil
	}
	return user.Text("email"), user, nil
}

// mustConceal reports whether the reply must not reveal if there is an account.
func mustConceal(v *engine.Visit) bool { return v.Subject.Name != "" && v.Authentication == nil }

// send queues a code and asks for it. It invalidates the code before; if no code may be sent, that
// one stays valid.
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
			"a code was sent a moment ago; wait for it, or request another in %v", before.SentAt.Add(resendPause).Sub(v.Now))), nil
	}
	code := newCode(cmp.Or(o.Digits, defaultDigits))
	account, _ := mailAccount(v, to)
	delivery, err := o.deps.Mails.Mail(ctx, account, schemas.Mail{
		To: to, Code: code, Minutes: int(codeTTL.Minutes()), Application: trustedName(v.Application), Language: v.Request.Language,
		Recovery: v.Recovers && v.Authentication == nil,
	}, v.Now)
	if schemas.HasClass(err, schemas.Throttled) {
		// An error would leave the run where it was, without counting a wrong code that led here.
		return o.postpone(before, schemas.AsError(err)), nil
	}
	if schemas.HasCode(err, schemas.CodeMailNotConfigured) && o.has(unavailableOutcome) {
		return engine.LeaveBy(unavailableOutcome), nil
	}
	if err != nil {
		return nil, err
	}
	sent := &sentCode{MAC: o.deps.codeMAC(v, user, to, code), SentAt: v.Now, ExpiresAt: v.Now.Add(codeTTL)}
	again := *o
	if before != nil {
		again.form.text = "If this account has an email address, we sent a new code there. Earlier codes no longer work."
	}
	d := again.ask(sent, "")
	d.Changes = []schemas.Change{schemas.QueueDelivery{Delivery: delivery}, requestedCode(v, user, to)}
	return d, nil
}

// requestedCode returns the event about a requested code. There is one without an address, too: it
// shows administrators why no mail arrived, and the reply takes as long as that with an address.
func requestedCode(v *engine.Visit, user *schemas.User, address string) schemas.Change {
	if why := notMailed(user, address); why != "" {
		return event(v, "email_code.not_sent", v.Subject.UserID, map[string]string{"reason": why})
	}
	return event(v, "email_code.sent", v.Subject.UserID, nil)
}

// notMailed returns the reason why no code is mailed, "" if there is an address for it.
func notMailed(user *schemas.User, address string) string {
	switch {
	case address != "":
		return ""
	case user == nil:
		return schemas.ReasonUnknownUser
	case user.Text("email") != "":
		return schemas.ReasonUnverified
	}
	return schemas.ReasonNoAddress
}

// postpone asks for the code of before, if any, and states why no other code was sent.
func (o *emailOTP) postpone(before *sentCode, why *schemas.Error) *engine.Decision {
	if before == nil {
		before = &sentCode{}
	}
	d := o.ask(before, "")
	d.Notice = why
	return d
}

func (o *emailOTP) leaveMissing() *engine.Decision {
	if o.has(missingOutcome) {
		return engine.LeaveBy(missingOutcome)
	}
	return &engine.Decision{Fail: schemas.Errorf(schemas.Invalid, schemas.CodeNoEmailAddress,
		"this account has no email address to send a code to; sign in another way, or ask an administrator to add one")}
}

// ask asks for the code, with the fault of the last one if any.
func (o *emailOTP) ask(sent *sentCode, fault string) *engine.Decision {
	return &engine.Decision{Ask: o.form.ask(faultAt(codeInput, fault)...), NodeState: must(json.Marshal(sent))}
}
