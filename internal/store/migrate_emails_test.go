package store_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// upgradedUsers are users of an earlier version: what they are found by then, and after
// the upgrade.
func upgradedUsers() []struct{ id, attributes, before, after string } {
	id := func(n int) string { return fmt.Sprintf("01a00000-0000-7000-8000-0000000001%02d", n) }
	return []struct{ id, attributes, before, after string }{
		{id(1), `{"username":"both","email":"Both@example.com"}`, "both both@example.com", "both"},
		{id(2), `{"username":"verified","email":"verified@example.com","email_verified":true}`, "verified verified@example.com", "verified verified@example.com"},
		{id(3), `{"email":"alone@example.com","email_verified":false}`, "alone@example.com", ""},
		{id(4), `{"username":"same@example.com","email":"SAME@example.com"}`, "same@example.com", "same@example.com"},
		{id(5), `{"username":"other@example.com","email":"fifth@example.com"}`, "fifth@example.com other@example.com", "other@example.com"},
		{id(6), `{"username":"none"}`, "none", "none"},
		{id(7), `{"email":"ａｌｉｃｅ@example.com"}`, "alice@example.com", ""},
		{id(8), `{"email":"only@example.com","email_verified":true}`, "only@example.com", "only@example.com"},
		{id(9), `{"username":"Twice@example.com","email":"twice@example.com","email_verified":true}`, "twice@example.com", "twice@example.com"},
	}
}

// After the upgrade, unverified addresses of an earlier version identify no user. Users
// keep them, and administrators can find users by them.
func TestAudit02UpgradeWithdrawsUnverifiedAddresses(t *testing.T) {
	sequential(t)
	for name, where := range databases() {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			for _, u := range upgradedUsers() {
				fmt.Fprintf(&b, "INSERT INTO users VALUES ('%s', 'Person', '%s', '%s', 1000000, 2000000);\n", u.id, unitID, u.attributes)
				for value := range strings.FieldsSeq(u.before) {
					fmt.Fprintf(&b, "INSERT INTO user_identifiers VALUES ('%s', '%s');\n", value, u.id)
				}
			}
			for i := range 1200 { // more than one page of them
				id := fmt.Sprintf("01a00000-0000-7000-8000-00000001%04d", i)
				fmt.Fprintf(&b, "INSERT INTO users VALUES ('%s', 'Person', '%s', '{\"email\":\"u%d@example.com\"}', 1, 2);\n", id, unitID, i)
				fmt.Fprintf(&b, "INSERT INTO user_identifiers VALUES ('u%d@example.com', '%s');\n", i, id)
			}
			s := openUpgraded(t, where(t), strings.TrimSuffix(b.String(), ";\n"))
			for _, u := range upgradedUsers() {
				testUpgradedIdentifiers(t, s, u.id, u.before, u.after)
			}
			for i := range 1200 {
				if _, err := s.UserByAttribute(t.Context(), "", "email", fmt.Sprintf("u%d@example.com", i)); !schemas.HasCode(err, schemas.CodeUserNotFound) {
					t.Fatalf("user %d is found by an address that was not verified: %v", i, err)
				}
			}
			found, err := store.Users().Find(t.Context(), s, "email", "u1199@example.com")
			noError(t, err)
			equal(t, "the address of a user of the last page", found.Text("email"), "u1199@example.com")
		})
	}
}

func testUpgradedIdentifiers(t *testing.T, s *store.Store, id, before, after string) {
	t.Helper()
	var identify []string
	for value := range strings.FieldsSeq(before) {
		for _, attribute := range schemas.IdentifyingAttributes() {
			if u, err := s.UserByAttribute(t.Context(), "", attribute, value); err == nil {
				equal(t, "who is found by "+value, u.ID, id)
				if len(identify) == 0 || identify[len(identify)-1] != value {
					identify = append(identify, value)
				}
			}
		}
	}
	equal(t, "what identifies a user who had "+before, strings.Join(identify, " "), after)
	u, err := s.User(t.Context(), id)
	noError(t, err)
	if email := u.Text("email"); email != "" {
		found, err := store.Users().Find(t.Context(), s, "email", email)
		noError(t, err)
		equal(t, "who has the address "+email, found.ID, id)
	}
	for _, member := range schemas.IdentifyingAttributes() {
		key := schemas.IdentifierKey(u.Text(member))
		for value := range strings.FieldsSeq(before) {
			n, err := store.Users().Count(t.Context(), s, store.Page{Member: member, Value: value, Prefix: true})
			noError(t, err)
			equal(t, "the users by the "+member+" "+value, n == 1, strings.HasPrefix(key, value))
		}
	}
}
