package flowtest

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/schemas"
)

// reply is the result of a request: a step, an error, or nothing because a device
// declined.
type reply struct {
	step     *schemas.Step
	refused  *schemas.Error
	declined error
	failure  error // the request could not be made, or the product has a defect
	left     []Exit
	// members are the values that a scenario can expect, by the members of expect, in the types of
	// JSON.
	members map[string]any
}

// counts are the numbers of events and others before a request.
type counts struct{ events, mails, asked, reported int }

func (w *environment) counts() counts {
	return counts{len(w.Events()), len(w.Mails()), len(w.asked), len(queued[schemas.Call](w.Memory, schemas.CallDelivery))}
}

// none is the text of an empty value.
const none = "none"

// setMembers sets the members of the reply. The events, mails and requests are those since
// the counts.
func (p *scenarioRun) setMembers(r *reply, since counts) {
	step := cmp.Or(r.step, &schemas.Step{})
	data := step.Data
	r.members = map[string]any{
		"refused": describeError(r.refused), "declined": cmp.Or(reason(r.declined), none),
		"status": string(step.FlowStatus), "step": step.StepID, "provider": providerOf(step), "redirectURL": data.RedirectURL,
		"error": describeError(step.Error), "check": "",
		"inputs":      namesOf(data.Inputs, func(in schemas.Input) any { return in.Identifier }),
		"actions":     namesOf(data.Actions, func(a schemas.Action) any { return a.Ref }),
		"fieldErrors": namesOf(data.FieldErrors, func(f schemas.FieldError) any { return f.Identifier }),
		"consents":    requestedScopes(step),
		"data":        namesOf(slices.Sorted(maps.Keys(data.AdditionalData)), func(key string) any { return key }),
		"values":      objectOf(data.AdditionalData),
		"events":      namesOf(p.Events()[since.events:], p.describeEvent), "requests": p.callsSince(since),
		"mails": namesOf(p.Mails()[since.mails:], func(m schemas.Mail) any { return m.To }),
	}
	if step.Error != nil {
		r.members["check"] = string(passkey.FailedStep(step.Error))
	}
	p.addAssertion(r.members, step.Assertion)
	p.addStored(r.members)
}

// addAssertion adds the user and the claims of the assertion of a step, if it has one.
func (p *scenarioRun) addAssertion(members map[string]any, assertion string) {
	const missing = "no assertion"
	var claims map[string]any
	if assertion == "" || json.Unmarshal([]byte(assertion), &claims) != nil {
		members["user"], members["claims"] = missing, missing
		return
	}
	subject, _ := claims["sub"].(string)
	members["user"], members["claims"] = p.nameOf(subject), claims
}

// addStored adds the numbers of stored objects, and the refusal of the authorization
// request.
func (p *scenarioRun) addStored(members map[string]any) {
	stored := p.records()
	identities, passkeys := map[string]any{}, map[string]any{}
	for name := range p.file.Users {
		id := userID(name)
		identities[name] = float64(len(all(stored, func(i schemas.Identity) bool { return i.UserID == id })))
		passkeys[name] = float64(len(all(stored, func(c schemas.Credential) bool { return c.UserID == id })))
	}
	members["identities"], members["passkeys"] = identities, passkeys
	members["users"], members["sessions"] = float64(len(all[schemas.User](stored))), float64(len(all[schemas.Session](stored)))
	if r := find(stored, func(r schemas.AuthRequest) bool { return r.Refusal != nil }); r != nil {
		members["refusal"] = r.Refusal.Code
	}
}

// describeEvent returns an audit event in the notation of scenarios.
func (p *scenarioRun) describeEvent(e schemas.Event) any {
	detail := objectOf(e.Detail)
	return map[string]any{"action": e.Action, "user": p.nameOf(e.UserID), "detail": detail}
}

// requestedScopes returns the scopes for which a step requests consent.
func requestedScopes(step *schemas.Step) []any {
	var q schemas.ConsentQuestion
	_ = json.Unmarshal([]byte(step.Data.AdditionalData[schemas.ConsentData]), &q) // other steps do not request consent
	return namesOf(q.Scopes, func(s schemas.ConsentScope) any { return s.Scope })
}

func describeError(e *schemas.Error) string {
	if e == nil {
		return none
	}
	return e.Code + " (" + e.Description.DefaultValue + ")"
}

// namesOf returns the name of each item.
func namesOf[T, N any](list []T, name func(T) N) []N {
	names := make([]N, len(list))
	for i, item := range list {
		names[i] = name(item)
	}
	return names
}

// objectOf returns texts by name as a JSON object.
func objectOf(texts map[string]string) map[string]any {
	object := map[string]any{}
	for name, text := range texts {
		object[name] = text
	}
	return object
}

// describe returns the transcript lines of the reply: the reply, the outcomes, the requests
// to services and the audit log.
func (r *reply) describe() (lines []string) {
	switch {
	case r.failure != nil:
		return []string{"  " + r.failure.Error()}
	case r.declined != nil:
		lines = append(lines, "< nothing: "+r.declined.Error())
	case r.refused != nil:
		lines = append(lines, "< refused "+describeError(r.refused))
	default:
		lines = append(lines, "< "+r.describeStep())
	}
	if len(r.left) > 0 {
		ways := namesOf(r.left, func(w Exit) string { return strings.TrimSuffix(w.Node+" "+w.Outcome, " ") })
		lines = append(lines, "  by way of "+strings.Join(ways, ", "))
	}
	for _, list := range []struct{ title, name string }{{"requests", "requests"}, {"audit log", "events"}} {
		if items, _ := r.members[list.name].([]any); len(items) > 0 {
			lines = append(lines, "  "+list.title+" "+show(titles(items)))
		}
	}
	return lines
}

func (r *reply) describeStep() string {
	said := []string{strings.TrimSuffix(string(r.step.FlowStatus)+" "+r.step.StepID, " ")}
	for _, name := range []string{"inputs", "actions", "data", "fieldErrors", "provider", "redirectURL", "error"} {
		if name == "redirectURL" && r.members["provider"] != "" {
			continue // contains random values
		}
		if text := show(r.members[name]); text != none && text != "[]" {
			said = append(said, name+" "+text)
		}
	}
	return strings.Join(said, ", ")
}
