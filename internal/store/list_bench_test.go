package store_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// BenchmarkListUsers lists users among few and among many: the first page, one
// from the middle by After, those of a type, one found by name, and the counts.
func BenchmarkListUsers(b *testing.B) {
	for _, size := range []int{100, 100_000} {
		b.Run(fmt.Sprint(size), func(b *testing.B) {
			s := benchStore(b, file(b))
			middle := fill(b, s, size)
			for name, page := range map[string]store.Page{
				"first": {}, "deep": {After: middle}, "type": {After: middle, Member: "type", Value: "Person"},
				"name": {Member: "username", Value: fmt.Sprint("user", size/2)}, "prefix": {Member: "username", Value: "u", Prefix: true},
			} {
				page.Limit = 30
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						if _, err := store.Users().List(b.Context(), s, page); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
			for name, page := range map[string]store.Page{"count": {}, "countType": {Member: "type", Value: "Person"}, "countPrefix": {Member: "username", Value: "u", Prefix: true}} {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						if n, err := store.Users().Count(b.Context(), s, page); err != nil || n != size && n != store.MaxPrefixCount {
							b.Fatalf("%d users were counted (%v), expected %d", n, err, size)
						}
					}
				})
			}
		})
	}
}

// BenchmarkReachOf looks for the permissions behind a flow among few users and among many.
// Three users are administrators; with "everyone", a group of all has a role as well, and
// the application admits another type.
func BenchmarkReachOf(b *testing.B) {
	for _, size := range []int{100, 100_000} {
		for name, everyone := range map[string]bool{"administrators": false, "everyone": true} {
			b.Run(fmt.Sprint(name, size), func(b *testing.B) {
				s := benchStore(b, file(b))
				fill(b, s, size)
				flowID := reachable(b, s, everyone)
				for b.Loop() {
					reach, err := store.ReachOf(b.Context(), s, []string{flowID}, nil)
					if err != nil || len(reach.Users) == 0 == !everyone {
						b.Fatalf("found %+v, %v", reach, err)
					}
				}
			})
		}
	}
}

// reachable adds an application with a flow, and roles of the users who may sign in there.
func reachable(b *testing.B, s *store.Store, everyone bool) (flowID string) {
	b.Helper()
	now := time.Now()
	f := schemas.Flow{ID: schemas.NewID(), Handle: "door", Name: "Door", FlowType: schemas.Authentication, ActiveVersion: 1, CreatedAt: &now, UpdatedAt: &now}
	app := schemas.Application{ID: schemas.NewID(), Name: "Shop", OUID: home, AuthFlowID: f.ID, CreatedAt: now, UpdatedAt: now}
	members := 3
	if everyone {
		members, app.AllowedUserTypes = 1<<20, []string{"Robot"}
	}
	users, err := store.Users().List(b.Context(), s, store.Page{Limit: members})
	if err != nil {
		b.Fatal(err)
	}
	group := schemas.Group{ID: schemas.NewID(), Name: "Those", OUID: home, CreatedAt: now, UpdatedAt: now}
	for _, u := range users {
		group.Members = append(group.Members, schemas.Principal{Type: schemas.UserPrincipal, ID: u.ID})
	}
	role := schemas.Role{ID: schemas.NewID(), Name: "Administrator", OUID: home, Permissions: []string{"shop"}, CreatedAt: now, UpdatedAt: now,
		Assignments: []schemas.Principal{{Type: schemas.GroupPrincipal, ID: group.ID}}}
	robot := schemas.UserType{ID: schemas.NewID(), Name: "Robot", OUID: home, Schema: []byte(`{"type":"object"}`), CreatedAt: now, UpdatedAt: now}
	server := schemas.ResourceServer{ID: schemas.NewID(), Handle: "shop", Name: "Shop", OUID: home, CreatedAt: now, UpdatedAt: now}
	err = s.Update(b.Context(), func(tx *store.Tx) error {
		return errors.Join(store.ResourceServers().Insert(tx, &server), store.UserTypes().Insert(tx, &robot), store.Flows().Insert(tx, &f), store.Applications().Insert(tx, &app),
			store.Groups().Insert(tx, &group), store.Roles().Insert(tx, &role))
	})
	if err != nil {
		b.Fatal(err)
	}
	return f.ID
}

// fill adds users, and returns the id of the one in the middle.
func fill(b *testing.B, s *store.Store, size int) (middle string) {
	b.Helper()
	const batch = 1000
	for done := 0; done < size; done += batch {
		err := s.Update(b.Context(), func(tx *store.Tx) error {
			for i := done; i < min(size, done+batch); i++ {
				u := schemas.User{ID: schemas.NewID(), Type: "Person", OUID: home, CreatedAt: time.Now(), UpdatedAt: time.Now(),
					Attributes: map[string]any{"username": fmt.Sprint("user", i), "given_name": "Ann", "family_name": "Smith"}}
				if i == size/2 {
					middle = u.ID
				}
				if err := store.Users().Insert(tx, &u); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	return middle
}
