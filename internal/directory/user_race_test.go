package directory

import (
	"fmt"
	"testing"

	"github.com/postern-id/postern/schemas"
)

// Of many concurrent writers of a unique value one succeeds.
func TestUniqueValues(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		w.create(t, w.UserTypes, userType("Device", properties(`"serial": {"type": "integer", "x-unique": true}`)))
		for path, body := range map[string]string{
			"attributes.username": `{"type": "Person", "attributes": {"username": "same", "name": "N%d"}}`,
			"attributes.email":    `{"type": "Person", "attributes": {"email": "same@example.org", "email_verified": true, "name": "N%d"}}`,
			"attributes.serial":   `{"type": "Device", "attributes": {"serial": 7, "n": %d}}`,
		} {
			before := w.count(t)
			for _, err := range together(8, func(i int) error {
				_, err := w.Users.Create(t.Context(), SystemCall(), doc(t, fmt.Sprintf(body, i)))
				return err
			}) {
				if err != nil {
					refused(t, err, schemas.CodeAttributeTaken, path+": another user has this value")
				}
			}
			if n := w.count(t) - before; n != 1 {
				t.Errorf("%s: %d were made", path, n)
			}
		}
	})
}

// Users created while their type changes fit the new type.
func TestTypeChangesWhileUsersAreMade(t *testing.T) {
	each(t, func(t *testing.T, w *fixture) {
		id := w.create(t, w.UserTypes, userType("Staff", properties(`"badge": {}`)))
		errs := together(6, func(i int) error {
			if i == 0 {
				_, err := w.UserTypes.Replace(t.Context(), SystemCall(), id, "", doc(t, userType("Staff", properties(`"badge": {"type": "integer"}`))))
				return err
			}
			_, err := w.Users.Create(t.Context(), SystemCall(), doc(t, `{"type": "Staff", "attributes": {"badge": "text"}}`))
			return err
		})
		made := w.count(t)
		if changed := errs[0] == nil; changed && made > 0 || !changed && made == 0 {
			t.Errorf("the type changed: %v; %d users do not fit the new one (%v)", changed, made, errs)
		}
	})
}
