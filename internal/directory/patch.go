package directory

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// mostPatchAttempts limits how often an unconditional patch is applied again after a
// concurrent change. Each time, one of the competing changes succeeds.
const mostPatchAttempts = 32

// Patch applies a JSON Merge Patch (RFC 7396) to a resource: it replaces the resource by
// its patched representation, with the checks of Replace. If the resource changes between
// reading and writing, Patch reads it again, unless the If-Match field value match excludes
// the new state. No change is lost.
func Patch(ctx context.Context, r Resource, c Call, id, match string, patch *schemas.Document) (*Item, error) {
	for attempt := 1; ; attempt++ {
		was, err := r.Get(ctx, c, id)
		if err != nil {
			return nil, err
		}
		if !matches(match, was.ETag) {
			return nil, r.Noun().errMatch()
		}
		text, err := json.Marshal(was.Value)
		if err != nil {
			return nil, fmt.Errorf("directory: write a %s as JSON: %w", r.Noun().displayName(), err)
		}
		whole, err := patch.MergePatch(text)
		if err != nil {
			return nil, err
		}
		if u, ok := was.Value.(*schemas.User); ok {
			whole = withdrawVerification(u, patch, whole)
		}
		item, err := r.Replace(ctx, c, id, was.ETag, whole)
		if !schemas.HasClass(err, schemas.Precondition) || attempt == mostPatchAttempts {
			return item, err
		}
	}
}

// withdrawVerification removes the "_verified" statement about an attribute that the patch
// changes, unless the patch sets the statement for the new value.
func withdrawVerification(was *schemas.User, patch, whole *schemas.Document) *schemas.Document {
	attributes := patch.At("attributes")
	if attributes == nil {
		return whole
	}
	withdrawn := map[string]any{}
	for _, name := range attributes.Members() {
		statement := name + "_verified"
		if slices.Contains(attributes.Members(), statement) {
			continue
		}
		before, err := json.Marshal(was.Attributes[name])
		if err != nil || string(before) != string(attributes.At(schemas.MemberPath("", name)).JSON()) {
			withdrawn[schemas.MemberPath("attributes", statement)] = nil
		}
	}
	return whole.Edited(withdrawn)
}
