package store_test

import (
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/internal/store/storetest"
	"github.com/postern-id/postern/schemas"
)

// The names of administrators' applications are found by their skeletons, also in rows of earlier
// programs, which have none. Those of other clients are not.
func TestNamesAreFoundBySkeleton(t *testing.T) {
	for driver, config := range databases() {
		t.Run(driver, func(t *testing.T) {
			s := storetest.OpenEmpty(t, config(t))
			unit := schemas.OrganizationUnit{ID: home, Handle: "home"}
			err := s.Update(t.Context(), func(tx *store.Tx) error {
				if err := store.Units().Insert(tx, &unit); err != nil {
					return err
				}
				for _, a := range []schemas.Application{{Name: "Payroll"}, {Name: "Stranger", Registration: schemas.RegisteredDynamically}} {
					a.ID, a.OUID = schemas.NewID(), home
					if err := store.Applications().Insert(tx, &a); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			for _, earlier := range []bool{false, true} {
				if earlier {
					if err := s.ForgetNameSkeletons(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
				for name, want := range map[string]bool{"Pay-RoII": true, "Stranger": false, "Other": false} {
					if got, err := s.ResemblesOwnName(t.Context(), schemas.NameSkeleton(name)); err != nil || got != want {
						t.Errorf("%s, rows of an earlier program %t: %t, %v", name, earlier, got, err)
					}
				}
			}
		})
	}
}
