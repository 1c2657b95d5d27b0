package flowtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
)

// differences are members that are not as expected, with the received values.
type differences []Difference

// add adds a difference. The member is a path below expect.
func (d *differences) add(member string, want, got any) {
	*d = append(*d, Difference{Member: member, Want: want, Got: got})
}

// text compares two strings if one is expected.
func (d *differences) text(member, want, got string) {
	if want != "" && want != got {
		d.add(member, want, valueOrNone(got))
	}
}

// list compares two lists if one is expected.
func (d *differences) list(member string, want, got []string) {
	if want != nil && !slices.Equal(want, got) {
		d.add(member, want, slices.Concat([]string{}, got))
	}
}

// compare returns every difference between the reply and what is expected.
func (e Expect) compare(r *reply) differences {
	var d differences
	if code := codeOf(r.refused); code != e.Refused {
		d.add("refused", valueOrNone(e.Refused), valueOrNone(code)+descriptionOf(r.refused))
	}
	if why := reason(r.declined); why != e.Declined {
		d.add("declined", valueOrNone(e.Declined), valueOrNone(why))
	}
	step := r.step
	if step == nil {
		step = &schemas.Step{} // every member is empty
	}
	e.compareStep(&d, step)
	e.compareData(&d, step)
	e.compareClaims(&d, step.Assertion)
	e.compareEvents(&d, r.events)
	d.list("mails", e.Mails, addressees(r.mails))
	e.compareRequests(&d, r.requests)
	return d
}

// compareStore compares the counts of stored objects.
func (e Expect) compareStore(d *differences, w *environment) {
	if got := len(all[schemas.User](w.records())); e.Users != nil && *e.Users != got {
		d.add("users", *e.Users, got)
	}
	if got := len(all[schemas.Session](w.records())); e.Sessions != nil && *e.Sessions != got {
		d.add("sessions", *e.Sessions, got)
	}
	for _, user := range slices.Sorted(maps.Keys(e.Identities)) {
		if got := len(all(w.records(), func(i schemas.Identity) bool { return i.UserID == userID(user) })); got != e.Identities[user] {
			d.add(schemas.MemberPath("identities", user), e.Identities[user], got)
		}
	}
	for _, user := range slices.Sorted(maps.Keys(e.Passkeys)) {
		if got := len(all(w.records(), func(c schemas.Credential) bool { return c.UserID == userID(user) })); got != e.Passkeys[user] {
			d.add(schemas.MemberPath("passkeys", user), e.Passkeys[user], got)
		}
	}
	refusal := ""
	if r := find(w.records(), func(r schemas.AuthRequest) bool { return r.Refusal != nil }); r != nil {
		refusal = r.Refusal.Code
	}
	d.text("refusal", e.Refusal, refusal)
}

// compareStep compares what the client receives.
func (e Expect) compareStep(d *differences, step *schemas.Step) {
	d.text("status", string(e.Status), string(step.FlowStatus))
	d.text("step", e.Step, step.StepID)
	d.text("provider", e.Provider, providerOf(step))
	d.text("redirectURL", e.RedirectURL, step.Data.RedirectURL)
	if code := codeOf(step.Error); code != e.Error {
		d.add("error", valueOrNone(e.Error), valueOrNone(code)+descriptionOf(step.Error))
	}
	if step.Error != nil {
		d.text("check", e.Check, string(passkey.FailedStep(step.Error)))
	} else {
		d.text("check", e.Check, "")
	}
	d.list("inputs", e.Inputs, inputsOf(step))
	d.list("actions", e.Actions, actionsOf(step))
	d.list("consents", e.Consents, asked(step))
	if faulty := faultyOf(step); e.FieldErrors != nil || faulty != nil {
		d.list("fieldErrors", append([]string{}, e.FieldErrors...), faulty)
	}
}

// compareData compares the data of a step that the client uses.
func (e Expect) compareData(d *differences, step *schemas.Step) {
	data := step.Data.AdditionalData
	for i, key := range e.Data {
		if data[key] == "" {
			d.add(fmt.Sprintf("data[%d]", i), key, slices.Sorted(maps.Keys(data)))
		}
	}
	for _, key := range slices.Sorted(maps.Keys(e.Values)) {
		if data[key] != e.Values[key] {
			d.add(schemas.MemberPath("values", key), e.Values[key], data[key])
		}
	}
}

// compareClaims compares the claims of the assertion.
func (e Expect) compareClaims(d *differences, assertion string) {
	if len(e.Claims) == 0 && len(e.NoClaims) == 0 && e.User == "" {
		return
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(assertion), &got); err != nil {
		switch {
		case e.User != "":
			d.add("user", e.User, "no assertion")
		case len(e.Claims) > 0:
			d.add("claims", e.Claims, "no assertion")
		default:
			d.add("noClaims", e.NoClaims, "no assertion")
		}
		return
	}
	if e.User != "" && got["sub"] != userID(e.User) {
		d.add("user", e.User, fmt.Sprintf("another (username %v)", got["username"]))
	}
	for _, name := range slices.Sorted(maps.Keys(e.Claims)) {
		if !reflect.DeepEqual(e.Claims[name], got[name]) {
			d.add(schemas.MemberPath("claims", name), e.Claims[name], got[name])
		}
	}
	for i, name := range e.NoClaims {
		if value, there := got[name]; there {
			d.add(fmt.Sprintf("noClaims[%d]", i), "no claim "+name, value)
		}
	}
}

// compareEvents compares the audit events of the step.
func (e Expect) compareEvents(d *differences, events []schemas.Event) {
	if e.Events == nil {
		return
	}
	var want []string
	for _, event := range e.Events {
		want = append(want, event.Action)
	}
	if got := actions(events); !slices.Equal(want, got) {
		d.add("events", want, slices.Concat([]string{}, got))
		return
	}
	for i, event := range e.Events {
		at := fmt.Sprintf("events[%d]", i)
		if event.User != "" && events[i].UserID != userID(event.User) {
			d.add(at+".user", event.User, "another")
		}
		for _, key := range slices.Sorted(maps.Keys(event.Detail)) {
			if got := events[i].Detail[key]; got != event.Detail[key] {
				d.add(schemas.MemberPath(at+".detail", key), event.Detail[key], got)
			}
		}
	}
}

func inputsOf(step *schemas.Step) (identifiers []string) {
	for _, in := range step.Data.Inputs {
		identifiers = append(identifiers, in.Identifier)
	}
	return identifiers
}

func actionsOf(step *schemas.Step) (refs []string) {
	for _, a := range step.Data.Actions {
		refs = append(refs, a.Ref)
	}
	return refs
}

func faultyOf(step *schemas.Step) (identifiers []string) {
	for _, f := range step.Data.FieldErrors {
		identifiers = append(identifiers, f.Identifier)
	}
	return identifiers
}

// asked returns the scopes for which a step requests consent.
func asked(step *schemas.Step) []string {
	var q schemas.ConsentQuestion
	if err := json.Unmarshal([]byte(step.Data.AdditionalData[schemas.ConsentData]), &q); err != nil {
		return nil // the step does not request consent
	}
	scopes := make([]string, len(q.Scopes))
	for i, s := range q.Scopes {
		scopes[i] = s.Scope
	}
	return scopes
}

func actions(events []schemas.Event) (list []string) {
	for _, e := range events {
		list = append(list, e.Action)
	}
	return list
}

func codeOf(e *schemas.Error) string {
	if e == nil {
		return ""
	}
	return e.Code
}

func descriptionOf(e *schemas.Error) string {
	if e == nil {
		return ""
	}
	return " (" + e.Description.DefaultValue + ")"
}

func valueOrNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
