package store_test

import (
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
				"name": {Member: "username", Value: fmt.Sprint("user", size/2)},
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
			for name, page := range map[string]store.Page{"count": {}, "countType": {Member: "type", Value: "Person"}} {
				b.Run(name, func(b *testing.B) {
					for b.Loop() {
						if n, err := store.Users().Count(b.Context(), s, page); err != nil || n != size {
							b.Fatalf("%d users were counted (%v), expected %d", n, err, size)
						}
					}
				})
			}
		})
	}
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
