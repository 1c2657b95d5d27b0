package directory

import (
	"fmt"
	"sync"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// together calls do(0) to do(n-1) concurrently and returns their errors.
func together(n int, do func(i int) error) []error {
	errs := make([]error, n)
	gate := make(chan struct{})
	var done sync.WaitGroup
	for i := range n {
		done.Go(func() {
			<-gate
			errs[i] = do(i)
		})
	}
	close(gate)
	done.Wait()
	return errs
}

// Of many concurrent writers of one name one succeeds, and the others learn who has it.
func TestNamesAreUnique(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		for name, body := range map[string]string{
			"organizationUnits": `{"handle": "same", "name": "Same"}`,
			"resourceServers":   `{"handle": "same", "name": "Same", "resources": [{"handle": "a"}]}`,
			"applications":      machine(t, "Same", "openid"),
			"groups":            `{"name": "Same"}`,
			"identityProviders": corp(t, "handle", "same", "clientSecret", corpSecret),
			"roles":             `{"name": "Same", "permissions": ["system:users:read"]}`,
			"flows":             `{"handle": "same", "name": "Same", "flowType": "AUTHENTICATION", "nodes": ` + passkeyNodes + `}`,
		} {
			r := h.resource(t, name)
			before := h.state(t)
			d := doc(t, body)
			made := 0
			for _, err := range together(8, func(int) error {
				_, err := r.Create(t.Context(), SystemCall(), d)
				return err
			}) {
				if err == nil {
					made++
				} else if !schemas.HasClass(err, schemas.Conflict) || len(schemas.AsError(err).Errors) != 1 {
					t.Errorf("%s: %v", name, err)
				}
			}
			after := h.state(t)
			if made != 1 || after[name] != before[name]+1 || after["events"] != before["events"]+1 {
				t.Errorf("%s: %d were made, and %v became %v", name, made, before, after)
			}
		}
	})
}

// A unit is deleted or gets a member, but not both.
func TestUnitsInUseAreKept(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		for i := range 10 {
			unit := h.create(t, h.Units, fmt.Sprintf(`{"handle": "u%d", "name": "Unit"}`, i))
			body := doc(t, object(t, "name", fmt.Sprint("In ", i), "ouId", unit))
			errs := together(4, func(i int) error {
				switch i {
				case 0:
					return h.Units.Delete(t.Context(), SystemCall(), unit, "")
				case 1:
					_, err := h.Groups.Create(t.Context(), SystemCall(), body)
					return err
				case 2:
					_, err := h.Roles.Create(t.Context(), SystemCall(), body)
					return err
				}
				_, err := h.Applications.Create(t.Context(), SystemCall(), body)
				return err
			})
			_, err := h.Units.Get(t.Context(), SystemCall(), unit)
			if gone := schemas.HasClass(err, schemas.NotFound); gone != (errs[0] == nil) {
				t.Errorf("the unit is gone: %v, though its deletion ended with %v", gone, errs[0])
			}
			uses, err := store.Uses(t.Context(), h.store, "organizationUnit", unit)
			must(t, err)
			if errs[0] == nil && len(uses) > 0 {
				t.Errorf("the unit is gone, and %v are left", uses)
			}
			if errs[0] != nil && len(uses) == 0 {
				t.Errorf("nothing is in the unit, which could not be deleted: %v", errs[0])
			}
		}
	})
}

// A flow is deleted or an application uses it, but not both. No database constraint
// enforces this.
func TestFlowsInUseAreKept(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		for i := range 10 {
			flow := h.create(t, h.Flows, fmt.Sprintf(`{"handle": "f%d", "name": "F", "flowType": "AUTHENTICATION", "nodes": %s}`, i, passkeyNodes))
			body := doc(t, object(t, "name", fmt.Sprint("App ", i), "authFlowId", flow))
			errs := together(2, func(i int) error {
				if i == 0 {
					return h.Flows.Delete(t.Context(), SystemCall(), flow, "")
				}
				_, err := h.Applications.Create(t.Context(), SystemCall(), body)
				return err
			})
			if (errs[0] == nil) == (errs[1] == nil) {
				t.Errorf("the deletion ended with %v, and the creation with %v", errs[0], errs[1])
			}
		}
	})
}

// Of two concurrent replacements one must read the resource again.
func TestConcurrentReplaceHasOneWinner(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		item, err := h.Groups.Get(t.Context(), SystemCall(), h.ids["group"])
		must(t, err)
		wins, stale := 0, 0
		for _, err := range together(6, func(i int) error {
			_, err := h.Groups.Replace(t.Context(), SystemCall(), item.ID, item.ETag, doc(t, object(t, "name", fmt.Sprint("Name ", i))))
			return err
		}) {
			if err == nil {
				wins++
			} else if schemas.HasClass(err, schemas.Precondition) {
				stale++
			}
		}
		if wins != 1 || stale != 5 {
			t.Errorf("%d of 6 replaced the group and %d got precondition_failed, expected 1 and 5", wins, stale)
		}
	})
}

// Of the last two sign-in methods only one can be removed, even concurrently.
func TestOneLoginMethodRemains(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		h := furnished(t, w)
		user, provider := h.ids["user"], h.create(t, h.IdentityProviders, corp(t))
		call := as(user, "system")
		for i := range 10 {
			key := schemas.Bytes(fmt.Sprint("key", i))
			must(t, h.store.Apply(t.Context(), storetest.Authorized([]schemas.Change{schemas.CreateCredential{Credential: schemas.Credential{ID: key, UserID: user, CreatedAt: h.now()}}})))
			identity := h.link(t, user, provider, fmt.Sprint(i))
			left := 2
			for _, err := range together(2, func(i int) error {
				if i == 0 {
					return h.DeletePasskey(t.Context(), call, user, key)
				}
				return h.DeleteIdentity(t.Context(), call, user, identity.ID)
			}) {
				if err == nil {
					left--
				} else if !schemas.HasCode(err, schemas.CodeLastCredential) {
					t.Error(err)
				}
			}
			if left != 1 {
				t.Fatalf("%d ways in are left, expected 1", left)
			}
			must(t, h.store.Apply(t.Context(), storetest.Authorized([]schemas.Change{schemas.UnlinkIdentity{UserID: user, ID: identity.ID}})))
			if left, err := h.Passkeys(t.Context(), SystemCall(), user); err == nil && len(left) > 0 {
				must(t, h.DeletePasskey(t.Context(), SystemCall(), user, key))
			}
		}
	})
}
