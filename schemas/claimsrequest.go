package schemas

import (
	"fmt"
	"slices"
)

// ClaimsRequest is the parameter claims of an authorization request: OpenID Connect Core §5.5. A nil request of a
// claim states no more than its name.
type ClaimsRequest struct {
	UserInfo map[string]*ClaimRequest `json:"userinfo,omitempty"`
	IDToken  map[string]*ClaimRequest `json:"id_token,omitempty"`
}

// ClaimRequest is what a client requests of a claim: OpenID Connect Core §5.5.1.
type ClaimRequest struct {
	Essential bool  `json:"essential,omitempty"`
	Value     any   `json:"value,omitempty"`
	Values    []any `json:"values,omitempty"`
}

// of returns the part about ID tokens, or about userinfo.
func (r *ClaimsRequest) of(idToken bool) map[string]*ClaimRequest {
	switch {
	case r == nil:
		return nil
	case idToken:
		return r.IDToken
	}
	return r.UserInfo
}

// Find reports whether a claim is requested. Nested claims have no name for requests.
func (r *ClaimsRequest) Find(idToken bool, levels []string) bool {
	_, found := r.of(idToken)[levels[0]]
	return found && len(levels) == 1
}

// Accepts reports whether a value of a claim is one that is requested, or any is.
func (r *ClaimsRequest) Accepts(idToken bool, levels []string, value any) bool {
	requested := r.of(idToken)[levels[0]]
	if requested == nil || len(levels) > 1 {
		return true
	}
	accepted := requested.Accepted()
	same := func(v any) bool { return fmt.Sprint(v) == fmt.Sprint(value) }
	return len(accepted) == 0 || slices.ContainsFunc(accepted, same)
}

// Accepted returns the values that are requested; none for any.
func (r *ClaimRequest) Accepted() []any {
	switch {
	case r == nil:
		return nil
	case r.Value != nil:
		return append([]any{r.Value}, r.Values...)
	}
	return r.Values
}
