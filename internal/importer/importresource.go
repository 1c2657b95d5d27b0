package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/postern-id/postern/internal/declare"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/schemas"
)

// createResources creates the resources that are missing, in one transaction, which may run more than once.
func (in Import) createResources(ctx context.Context, list []Resource, w *userWriter) error {
	err := in.Directory.Transact(ctx, in.Call, func(call directory.Call) error {
		w.begin()
		target := declare.NewDirectory(in.Directory, call)
		for _, resource := range list {
			if err := w.createResource(ctx, call, target, resource); err != nil {
				return err
			}
		}
		return in.findProviders(ctx, call, w)
	})
	for _, f := range w.found {
		w.report.add(f.subject, f.place, f.problem, f.fix)
	}
	return err
}

// begin forgets what an earlier attempt has found.
func (w *userWriter) begin() {
	w.found, w.ids, w.accepted, w.joined = nil, map[string]string{}, map[string]bool{}, map[string]*Joined{}
	w.result.Resources, w.result.Existing = map[string]int{}, 0
}

// foundNote is a note about a record.
type foundNote struct {
	subject, place string
	note
}

// note notes a finding about a resource, which is reported after the transaction.
func (w *userWriter) note(resource Resource, problem, fix string) {
	w.noteOn(resource, note{problem: problem, fix: fix})
}

func (w *userWriter) noteOn(resource Resource, n note) {
	place := resource.Place
	if n.value != "" {
		place += ": " + n.value
	}
	w.found = append(w.found, foundNote{strings.Replace(resource.Plural, "identityProviders", "identity providers", 1), place, n})
}

// findProviders finds the identity providers, by their handles.
func (in Import) findProviders(ctx context.Context, call directory.Call, w *userWriter) error {
	page, err := in.Directory.IdentityProviders.List(ctx, call, directory.Query{Limit: 1000})
	if err != nil {
		return err
	}
	for _, item := range page.Items {
		if p, ok := item.Value.(*schemas.IdentityProvider); ok {
			w.providers[p.Handle] = *p
		}
	}
	return nil
}

// maxAttempts is how often wrong parts of a resource are left out.
const maxAttempts = 3

// createResource creates a resource unless it exists.
func (w *userWriter) createResource(ctx context.Context, call directory.Call, target *declare.Directory, resource Resource) error {
	if schemas.IsBuiltinID(resource.ForeignID) {
		w.note(resource, "its ID is one that every Postern has, and is replaced", "check the export: the product does not generate such IDs")
	}
	w.dropForeign(&resource)
	ensured, err := w.ensure(ctx, target, resource)
	for range maxAttempts { // a part can be wrong because another one is missing
		if faults, ok := errors.AsType[declare.Faults](err); ok && w.dropFaulty(&resource, faults) {
			ensured, err = w.ensure(ctx, target, resource)
		}
	}
	if err == nil && w.renameApplication(&resource, ensured) {
		ensured, err = w.ensure(ctx, target, resource)
	}
	if faults, ok := errors.AsType[declare.Faults](err); ok {
		for _, fault := range faults {
			w.note(resource, "it is not imported: "+strings.TrimPrefix(fault.Path+": ", ": ")+fault.WithoutValue().Message, "change it in the product, or create it by hand")
		}
		return nil
	}
	if err != nil {
		return err
	}
	if !ensured.Created {
		return w.acceptExisting(ctx, call, resource, ensured.ID)
	}
	w.result.Resources[resource.Plural]++
	for _, n := range resource.notes {
		w.noteOn(resource, n)
	}
	w.accept(resource, ensured.ID)
	return w.Directory.SetImportOrigin(ctx, call, resource.Plural, ensured.ID, w.origin)
}

// ensure creates a resource, or finds the one with its ID or name.
func (w *userWriter) ensure(ctx context.Context, target *declare.Directory, resource Resource) (ensured declare.Ensured, err error) {
	noun, _ := declare.NounOf(resource.Plural)
	text, err := json.Marshal(resource.Content)
	if err != nil {
		return ensured, err
	}
	document, err := declare.Read(text)
	if err != nil {
		return ensured, err
	}
	from := declare.Secrets{Getenv: func(string) string { return resource.Secret }}
	err = declare.Ensure(ctx, target, []declare.Resource{{Noun: noun, Document: document, File: resource.Place}}, from, func(e declare.Ensured) { ensured = e })
	return ensured, err
}

// optionalPart matches the parts without which a resource is still safe and useful. One that is wrong does not keep
// the rest back.
var optionalPart = regexp.MustCompile(`^(description|url|logoUrl|tosUri|policyUri|scopes\[\d+\]|inboundAuthConfig\[0\]\.config\.(` +
	`(?:redirectUris|postLogoutRedirectUris|claims|scopes)\[\d+\]|backchannelLogoutUri|scopeClaims(?:\.\w+|\["[^"]*"\])(?:\[\d+\])?|` +
	`token\.\w+\.validityPeriod|(?:userInfo|token\.\w+)\.userAttributes\[\d+\])|assertion\.userAttributes\[\d+\])(?:$|[.[])`)

// optionalPath returns the path of the optional part that a fault is about; "" if it is about a part that is needed.
func optionalPath(fault declare.Fault) string {
	if m := optionalPart.FindStringSubmatch(fault.Path); m != nil {
		return m[1]
	}
	return ""
}

// dropFaulty removes the parts of a resource that are wrong, if all of them are optional. The content of the source
// stays as it is, because the transaction may run again.
func (w *userWriter) dropFaulty(resource *Resource, faults declare.Faults) bool {
	if slices.ContainsFunc(faults, func(f declare.Fault) bool { return optionalPath(f) == "" }) {
		return false
	}
	text, err := json.Marshal(resource.Content)
	var content map[string]any
	if err != nil || json.Unmarshal(text, &content) != nil {
		return false
	}
	resource.Content, _ = withoutParts(content, "", func(path string, part any) bool {
		i := slices.IndexFunc(faults, func(f declare.Fault) bool { return optionalPath(f) == path })
		if i < 0 {
			return false
		}
		member, _, _ := strings.Cut(path[strings.LastIndex(path, ".")+1:], "[")
		w.noteOn(*resource, note{nameOfPart(part), fmt.Sprintf("the value of %s is left out: %s", member, faults[i].WithoutValue().Message), "correct it in the product, or later"})
		return true
	}).(map[string]any)
	return true
}

// nameOfPart returns a text, or the name of a claim.
func nameOfPart(part any) string {
	if claim, is := part.(map[string]any); is {
		return firstText(textOf(claim["name"]), strings.Join(textsOf(claim["path"]), "."))
	}
	return textOf(part)
}

// withoutParts returns a value without the parts that are wrong.
func withoutParts(value any, path string, isWrong func(path string, part any) bool) any {
	switch v := value.(type) {
	case map[string]any:
		for _, name := range sortedKeys(v) {
			if at := schemas.MemberPath(path, name); isWrong(at, v[name]) {
				delete(v, name)
			} else {
				v[name] = withoutParts(v[name], at, isWrong)
			}
		}
	case []any:
		kept := []any{}
		for i, item := range v {
			if at := fmt.Sprintf("%s[%d]", path, i); !isWrong(at, item) {
				kept = append(kept, withoutParts(item, at, isWrong))
			}
		}
		return kept
	}
	return value
}

// renameApplication gives an application whose name another one has a name with its client ID: elsewhere names are
// not unique.
func (w *userWriter) renameApplication(resource *Resource, ensured declare.Ensured) bool {
	name, _ := resource.Content["name"].(string)
	if resource.Plural != "applications" || ensured.Created || ensured.ID == resource.Content["id"] {
		return false
	}
	resource.Content = maps.Clone(resource.Content)
	resource.Content["name"] = fmt.Sprintf("%.100s (%.90s)", name, resource.Key)
	w.note(*resource, "another application has the same name: the client ID is added to it", "choose another name")
	return true
}

// dropForeign removes the principals of a resource that this import has not accepted: the export could
// name the ID of any group.
func (w *userWriter) dropForeign(resource *Resource) {
	for _, member := range []string{"members", "assignments"} {
		principals, has := resource.Content[member].([]any)
		if !has {
			continue
		}
		resource.Content[member] = slices.DeleteFunc(slices.Clone(principals), func(p any) bool {
			id, _ := p.(map[string]any)["id"].(string)
			if !w.accepted[id] {
				w.note(*resource, "a group or an application in it was not imported, and is left out", "see the findings about groups and applications")
			}
			return !w.accepted[id]
		})
	}
}

// acceptExisting accepts an existing resource if this source has imported it before. Any other one
// with the same ID or name belongs to this server: its permissions are not for the imported users,
// whatever the export calls it.
func (w *userWriter) acceptExisting(ctx context.Context, call directory.Call, resource Resource, id string) error {
	if w.accepted[id] {
		w.note(resource, "another one of the export has the same ID, or the same name without an ID", "correct the export; its members are not imported")
		return nil
	}
	if id != resource.Content["id"] {
		w.note(resource, "another one has the same name", "rename one of them; users get neither its permissions nor its members")
		return nil
	}
	origin, err := w.Directory.ImportOrigin(ctx, call, resource.Plural, id)
	if err != nil {
		return err
	}
	switch {
	case origin == w.origin:
	case origin == "" && w.Adopt:
		if err := w.Directory.SetImportOrigin(ctx, call, resource.Plural, id, w.origin); err != nil {
			return err
		}
	default:
		w.note(resource, "one with the same ID exists, and it is not recorded that this source was imported as it",
			"if an earlier release imported it, pass --adopt; otherwise users get neither its permissions nor its members")
		return nil
	}
	w.result.Existing++
	w.accept(resource, id)
	if resource.Plural != "groups" && resource.Plural != "roles" {
		return nil
	}
	name, _ := resource.Content["name"].(string)
	joined := &Joined{Plural: resource.Plural, Name: name}
	joined.administers, joined.Permissions, err = w.Directory.Administers(ctx, call, resource.Plural, id)
	w.joined[id] = joined
	return err
}

func (w *userWriter) accept(resource Resource, id string) {
	w.ids[resource.Plural+" "+resource.Key], w.accepted[id] = id, true
}
