package nodes

import (
	"cmp"
	"context"
	"crypto/hmac"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

// A new address
//
// The code proves that the user reads the mail of the new address, and nothing about who the user is:
// an attacker has a mailbox of their own. So it authenticates no user, and the run must have proved
// before that the account is the user's. A reader of the mail of the address can recover the
// account, so an address is worth as much as a credential, and the same rules apply: at least a
// password, which a reader of the old mailbox does not have, and the second factor of a user who has
// one.
//
// Until the code is right, the replies do not reveal whether another account has the address, and the
// mail is the same.

func emailChangeKind(d Deps) declared {
	return configured[emailChange](d, engine.Kind{
		Name: "email-change",
		Acts: true,
		Doc: "Asks for an email address, sends a code there, and stores the address as the verified one of the run's user. The previous verified address gets a notice. " +
			"It also verifies an address that the user has entered earlier. The code proves possession of the address only, so it does not authenticate: the user must be new in this run or have authenticated in it. " +
			"A user with a second factor must have used one, or a passkey, in this run, and an administrator who has had a passkey must have used a passkey: otherwise the node ends the run. " +
			"The node needs a mail server (mail.host in the configuration); without one, it takes unavailable if next has a target for that outcome.",
		Asks:  true,
		Needs: append(ownUserNeeds("it would give another user's account to a reader of that mailbox"), strengthNeed(schemas.ACRPassword)),
		Outcomes: []engine.Outcome{
			engine.On(successOutcome, engine.Effect{Mail: engine.NeedsMail, Guarded: true, Adds: engine.Mailbox}, engine.Outcome{
				Doc:         "the user entered the code, and the address is the verified one of the user",
				Establishes: []engine.Fact{engine.Findable, engine.AttributeFact("email"), engine.AttributeFact(schemas.EmailVerified)},
			}),
			engine.On(failureOutcome, engine.NoEffect(), engine.Outcome{Doc: "too many codes were wrong; without a target, the node asks for an address again", Optional: true}),
			engine.On(unavailableOutcome, engine.Effect{Mail: engine.NeedsNoMail}, engine.Outcome{
				Doc: "no mail server is configured; taken for every user who enters an address. The outcome exists only if next has a target for it; otherwise the node fails",
			}),
		},
	}, errorCodes{schemas.CodeInvalidCode, schemas.CodeMailThrottled, schemas.CodeMailNotConfigured, schemas.CodeFactorRequired, schemas.CodeStaleProof},
		row{"success, failure (optional), unavailable (only if `next` names it)", "a verified email address (the attributes `email` and `email_verified`)"})
}

const (
	newEmailInput = "newEmail"
	otherAction   = "other"
)

type emailChange struct {
	node
	Title string `json:"title,omitempty" min:"1" default:"Change your email address" doc:"The heading of the form. Default: 'Change your email address'."`
	Text  string `json:"text,omitempty" min:"1" doc:"A paragraph below the heading. Default: a text that announces the code."`
	Label string `json:"label,omitempty" min:"1" default:"New email address" doc:"The label of the input. Default: 'New email address'."`

	codeForm form
}

// newAddress is what the node stores: the address and the code that was sent there. The zero value
// means that no address was entered.
type newAddress struct {
	sentCode
	Address string `json:"address,omitempty"`
}

// prepare omits the outcome unavailable if it is not wired.
func (c *emailChange) prepare(config *engine.Config) (found []schemas.Problem) {
	title := cmp.Or(c.Title, "Change your email address")
	c.form = form{
		title:   title,
		text:    cmp.Or(c.Text, "We send a code to the address. It proves that the address is yours."),
		fields:  []field{{Identifier: newEmailInput, Type: schemas.EmailInput, Label: cmp.Or(c.Label, "New email address"), Required: true, Autocomplete: "email"}},
		buttons: []button{{ref: submitAction, label: "Send a code"}},
	}
	c.codeForm = form{
		title:  title,
		text:   "We sent a code to this address. It is valid for ten minutes.",
		fields: []field{{Identifier: codeInput, Type: schemas.OTPInput, Label: "Code", Required: true, Autocomplete: "one-time-code"}},
		buttons: []button{
			{ref: submitAction, label: "Continue"},
			{ref: resendAction, label: "Send a new code", variant: "TEXT", event: schemas.TriggerEvent},
			{ref: otherAction, label: "Use another address", variant: "TEXT", event: schemas.TriggerEvent},
		},
	}
	c.collects = map[string]schemas.InputType{codeInput: schemas.OTPInput}
	c.outcomes = withoutUnwired(config, c.outcomes, unavailableOutcome)
	if c.deps.NoMail && !c.has(unavailableOutcome) {
		found = append(found, errNoMailServer())
	}
	return found
}

// Execute asks for the address, and then for the code that it sends there.
func (c *emailChange) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	refused, err := c.deps.refuseChange(ctx, v, false)
	switch {
	case err != nil:
		return nil, err
	case refused != nil:
		return &engine.Decision{Fail: refused}, nil
	case v.Answer == nil || v.Answer.Action == otherAction:
		return c.askAddress(""), nil
	}
	var asked newAddress
	if err := json.Unmarshal(v.NodeState, &asked); err != nil {
		return nil, fmt.Errorf("decode the new address: %w", err)
	}
	user, err := c.deps.subjectUser(ctx, v)
	switch {
	case err != nil:
		return nil, err
	case asked.Address == "":
		return c.accept(ctx, v, user)
	case v.Answer.Action == resendAction:
		return c.send(ctx, v, user, asked)
	}
	return c.check(ctx, v, user, asked)
}

func (c *emailChange) askAddress(fault string) *engine.Decision {
	return &engine.Decision{Ask: c.form.ask(faultAt(newEmailInput, fault)...), NodeState: must(json.Marshal(newAddress{}))}
}

// askCode asks for the code, with the fault of the last one if any.
func (c *emailChange) askCode(asked newAddress, fault string) *engine.Decision {
	f := c.codeForm
	f.shown = []schemas.Component{text("address", asked.Address, "BODY_1")}
	return &engine.Decision{Ask: f.ask(faultAt(codeInput, fault)...), NodeState: must(json.Marshal(asked))}
}

// accept sends a code to the entered address if the user can have it. It does not consider the
// addresses of other users.
func (c *emailChange) accept(ctx context.Context, v *engine.Visit, user *schemas.User) (*engine.Decision, error) {
	address := strings.TrimSpace(v.Answer.Inputs[newEmailInput])
	switch {
	case address == "":
		return c.askAddress("This is required."), nil
	case schemas.CheckIdentifier("email", address) != "":
		return c.askAddress("Enter an email address, such as name@example.com."), nil
	case schemas.IdentifierKey(address) == schemas.IdentifierKey(user.Identifier("email")):
		return c.askAddress("This is already the verified address of your account."), nil
	}
	given := map[string]any{"email": address}
	owned, err := c.deps.ownedByOthers(ctx, v, given)
	switch {
	case err != nil:
		return nil, err
	case len(owned) > 0:
		return c.askAddress("Your address is managed elsewhere, for example by the service with which you sign in. Change it there, or ask your administrator."), nil
	}
	misfit, err := c.deps.checkType(ctx, user.With(given))
	if err != nil && misfit == nil {
		return nil, err
	}
	for _, p := range misfit {
		if attributeAt(p.Path, maps.Keys(given)) != "" {
			return c.askAddress(p.Message), nil
		}
	}
	return c.send(ctx, v, user, newAddress{Address: address})
}

// send queues a code for the address and asks for it. If no code may be sent, the one before stays
// valid. Mails are counted by account and by address, so that no account can fill a mailbox, nor many
// accounts together.
func (c *emailChange) send(ctx context.Context, v *engine.Visit, user *schemas.User, asked newAddress) (*engine.Decision, error) {
	if next := asked.SentAt.Add(resendPause); v.Now.Before(next) {
		return c.postpone(asked, schemas.Errorf(schemas.Throttled, schemas.CodeMailThrottled,
			"a code was sent a moment ago; wait for it, or request another in %v", next.Sub(v.Now))), nil
	}
	code := newCode(defaultDigits)
	delivery, err := c.deps.Mails.Mail(ctx, user.ID, schemas.Mail{
		To: asked.Address, NewAddress: true, Code: code, Minutes: int(codeTTL.Minutes()), Application: trustedName(v.Application), Language: v.Request.Language,
	}, v.Now)
	switch {
	case schemas.HasClass(err, schemas.Throttled):
		return c.postpone(asked, schemas.AsError(err)), nil
	case schemas.HasCode(err, schemas.CodeMailNotConfigured) && c.has(unavailableOutcome):
		return engine.LeaveBy(unavailableOutcome), nil
	case err != nil:
		return nil, err
	}
	asked.sentCode = sentCode{MAC: c.deps.codeMAC(v, user, asked.Address, code), SentAt: v.Now, ExpiresAt: v.Now.Add(codeTTL)}
	d := c.askCode(asked, "")
	d.Changes = []schemas.Change{schemas.QueueDelivery{Delivery: delivery}, event(v, "email_code.sent", v.Subject.UserID, nil)}
	return d, nil
}

// postpone states why no code was sent. It asks for the code before, or for an address if there is
// none.
func (c *emailChange) postpone(asked newAddress, why *schemas.Error) *engine.Decision {
	d := c.askCode(asked, "")
	if asked.SentAt.IsZero() {
		d = c.askAddress("")
	}
	d.Notice = why
	return d
}

// check compares the entered code with the code that was sent.
func (c *emailChange) check(ctx context.Context, v *engine.Visit, user *schemas.User, asked newAddress) (*engine.Decision, error) {
	typed := strings.Join(strings.Fields(v.Answer.Inputs[codeInput]), "")
	switch {
	case typed == "":
		return c.askCode(asked, "This is required."), nil
	case !v.Now.Before(asked.ExpiresAt):
		return c.askCode(asked, "This code has expired. Request a new one."), nil
	}
	right, err := c.deps.guess(ctx, schemas.Guess{Secret: schemas.AddressSecret, Name: asked.Address}, func() (bool, error) {
		return hmac.Equal(asked.MAC, c.deps.codeMAC(v, user, asked.Address, typed)), nil
	})
	switch {
	case err != nil:
		return nil, err
	case right:
		return c.store(ctx, v, user, asked.Address)
	}
	var d *engine.Decision
	if asked.Tries++; asked.Tries < maxTries {
		d = c.askCode(asked, wrongCode(maxTries-asked.Tries))
		d.Failed = true
	} else {
		d = leaveFailed(schemas.Errorf(schemas.Invalid, schemas.CodeInvalidCode, "too many incorrect codes; request a new one"))
	}
	d.Reason = schemas.ReasonWrongMailedCode
	return d, nil
}

// store leaves with the verified address. A user who reads the mail of an address may learn that
// another account has it.
func (c *emailChange) store(ctx context.Context, v *engine.Visit, user *schemas.User, address string) (*engine.Decision, error) {
	given := map[string]any{"email": address, schemas.EmailVerified: true}
	taken, err := c.deps.isTakenByOther(ctx, user, address)
	if err != nil {
		return nil, err
	}
	if taken {
		return c.askAddress("Another account has this address. Enter another one, or sign in to that account."), nil
	}
	d := engine.LeaveBy(successOutcome)
	if v.Subject.Draft != nil && !storesUser(v) {
		d.Subject = redrafted(v, user, given)
		return d, nil
	}
	d.Changes = []schemas.Change{
		schemas.UpdateUser{UserID: user.ID, Attributes: given, At: v.Now, AddedBy: c.provenance(v), By: flowWriter()},
		event(v, "email_code.used", user.ID, nil),
		event(v, "user.updated", user.ID, nil),
	}
	return d, nil
}
