package store

import (
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/postern-id/postern/schemas"
)

// Mapped identities
//
// The statements of an identity provider are applied in the transaction of the sign-in, to the user as
// the transaction finds it. What a concurrent change, another owner or another user excludes is left out and
// recorded: a provider must not lock out its users.

// mapping is the application of a MapIdentity.
type mapping struct {
	t       *Tx
	c       *schemas.MapIdentity
	writer  schemas.Writer
	owners  map[string]*schemas.AttributeOwner
	skipped map[string]string
	changed []string // names of attributes
	groups  int      // memberships that changed
	leaves  bool     // the user no longer has an identity at the provider
}

func (t *Tx) mapIdentity(c schemas.MapIdentity) error {
	m := &mapping{t: t, c: &c, skipped: maps.Clone(c.Skipped), owners: map[string]*schemas.AttributeOwner{},
		writer: schemas.Writer{Kind: schemas.OwnerProvider, ProviderID: c.ProviderID}}
	if m.skipped == nil {
		m.skipped = map[string]string{}
	}
	u, err := t.lockUser(c.UserID)
	if err != nil {
		return err
	}
	if err := m.mapAttributes(u); err != nil {
		return err
	}
	if err := m.mapGroups(); err != nil {
		return err
	}
	return m.record()
}

// mapAttributes changes the attributes that the provider owns or that have no owner.
func (m *mapping) mapAttributes(u *schemas.User) error {
	owners, err := OwnersOf(m.t.ctx, m.t, u.ID)
	if err != nil {
		return err
	}
	for i := range owners {
		m.owners[owners[i].Attribute] = &owners[i]
	}
	given := m.permitted(u)
	if err := m.dropRefused(u, given); err != nil {
		return err
	}
	next := u.With(given)
	if m.changed = changedNames(u, next); len(m.changed) > 0 {
		if err := m.write(u, next); err != nil {
			return err
		}
	}
	return m.own(append(m.unstated(next), slices.Collect(maps.Keys(given))...))
}

// permitted returns the values of the attributes that the provider may change; nil removes one. A statement that a
// value is verified is about the value of the provider only.
func (m *mapping) permitted(u *schemas.User) map[string]any {
	given, statements := map[string]any{}, schemas.VerificationAttributes()
	for name, value := range m.c.Values {
		_, has := u.Attributes[name]
		if statements[name] == "" && m.mayChange(name, has) {
			given[name] = value
		}
	}
	for statement, name := range statements {
		if m.c.Values[statement] == true && given[name] != nil {
			given[statement] = true
		}
	}
	for _, name := range m.c.Absent {
		if o := m.owners[name]; o != nil && m.writer.Owns(o) && !slices.Contains(schemas.IdentifyingAttributes(), name) {
			given[name] = nil
		}
	}
	return given
}

// unstated lists the attributes of the mapping for which the provider states no value, and that the user does not have.
// They belong to the provider too: otherwise users could enter what the provider does not say about them.
func (m *mapping) unstated(u *schemas.User) (names []string) {
	for _, name := range append(slices.Collect(maps.Keys(m.c.Skipped)), m.c.Absent...) {
		if _, has := u.Attributes[name]; !has && !slices.Contains(schemas.IdentifyingAttributes(), name) {
			names = append(names, name)
		}
	}
	return names
}

// mayChange reports whether the provider may change an attribute. An attribute without an owner belongs to
// the user, unless the user does not have it, or it came from the provider.
func (m *mapping) mayChange(name string, has bool) bool {
	switch o := m.owners[name]; {
	case o == nil:
		return !has || m.c.Created
	case m.writer.Owns(o):
		return true
	}
	m.skipped[name] = schemas.SkippedOwned
	return false
}

// dropRefused removes what the account, its identifiers or another user exclude.
func (m *mapping) dropRefused(u *schemas.User, given map[string]any) error {
	if err := m.dropUnproved(u, given); err != nil {
		return err
	}
	if m.weakens(u, given) {
		m.drop(given, "email", schemas.SkippedUnverified)
	}
	next := u.With(given)
	for _, p := range next.CheckIdentifiers() {
		m.drop(given, p.Path, schemas.SkippedMisfit)
	}
	if key := schemas.IdentifierKey(next.Text("username")); given["username"] != nil && strings.Contains(key, "@") && key != schemas.IdentifierKey(next.Identifier("email")) {
		m.drop(given, "username", schemas.SkippedUnverified)
	}
	if err := m.dropTaken(u, given); err != nil {
		return err
	}
	return m.dropClaimed(u, given)
}

// weakens reports whether an address that the provider does not verify would replace a verified one.
func (m *mapping) weakens(u *schemas.User, given map[string]any) bool {
	return u.Identifier("email") != "" && given["email"] != nil && u.With(given).Identifier("email") == ""
}

func (m *mapping) drop(given map[string]any, name, reason string) {
	if _, is := given[name]; !is {
		return
	}
	delete(given, name)
	m.skipped[name] = reason
	for statement, attribute := range schemas.VerificationAttributes() {
		if attribute == name {
			delete(given, statement)
		}
	}
}

// dropUnproved removes changes of what identifies, reaches or recovers the account if the account needs a better
// sign-in for them.
func (m *mapping) dropUnproved(u *schemas.User, given map[string]any) error {
	changed := changedNames(u, u.With(given))
	isAccount := func(name string) bool { return slices.Contains(m.c.Account, name) }
	if m.c.Created || !slices.ContainsFunc(changed, isAccount) {
		return nil
	}
	err := CheckAuthority(m.t.ctx, m.t, schemas.RequireAuthority{UserID: u.ID, By: m.c.By, At: m.c.At})
	if _, unproved := errors.AsType[*schemas.ProofRequired](err); !unproved && !schemas.HasCode(err, schemas.CodeFactorRequired) {
		return err
	}
	for _, name := range changed {
		if isAccount(name) {
			m.drop(given, name, schemas.SkippedAuthority)
		}
	}
	return nil
}

// dropTaken removes the values of other users.
func (m *mapping) dropTaken(u *schemas.User, given map[string]any) error {
	rules, err := m.t.typeRules(u.Type)
	if err != nil {
		return err
	}
	taken, err := TakenAttributes(m.t.ctx, m.t, u.With(given), rules.unique)
	for _, name := range taken {
		m.drop(given, name, schemas.SkippedTaken)
	}
	return err
}

// dropClaimed removes an address that a user with permissions has entered and would lose.
func (m *mapping) dropClaimed(u *schemas.User, given map[string]any) error {
	losing, err := UsersLosingEmail(m.t, u.With(given))
	if err != nil {
		return err
	}
	for _, id := range losing {
		has, err := PermissionsOf(m.t.ctx, m.t, schemas.Principal{Type: schemas.UserPrincipal, ID: id})
		if err != nil {
			return err
		}
		if len(has) > 0 {
			m.drop(given, "email", schemas.SkippedTaken)
			m.drop(given, "username", schemas.SkippedTaken)
		}
	}
	return nil
}

// write stores the changed user, with the consequences of a new address.
func (m *mapping) write(old, u *schemas.User) error {
	if err := m.t.writeAttributes(u, m.c.At); err != nil {
		return err
	}
	if schemas.IdentifierKey(old.Text("email")) != schemas.IdentifierKey(u.Text("email")) {
		if err := RecordAddressChange(m.t, old, u, m.c.AddedBy, m.c.At); err != nil {
			return err
		}
		if err := m.t.endSessionsOn(u.ID, schemas.ProofOfEmail(old.Text("email")), m.c.At); err != nil {
			return err
		}
	}
	return ReindexUser(m.t, u)
}

// own makes the provider the owner of what it refreshes.
func (m *mapping) own(names []string) error {
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		_, statement := schemas.VerificationAttributes()[name]
		if m.owners[name] != nil || statement || slices.Contains(m.c.Once, name) {
			continue
		}
		o := schemas.AttributeOwner{Attribute: name, Owner: schemas.OwnerProvider, ProviderID: m.c.ProviderID, Since: m.c.At}
		if err := SetOwner(m.t, m.c.UserID, o); err != nil {
			return err
		}
	}
	return nil
}

// changedNames returns the names of the attributes that differ, sorted.
func changedNames(old, u *schemas.User) (names []string) {
	all := maps.Clone(old.Attributes)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, u.Attributes)
	for name := range all {
		if !reflect.DeepEqual(old.Attributes[name], u.Attributes[name]) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// record records what the mapping changed and left out, without values.
func (m *mapping) record() error {
	if len(m.changed) == 0 && m.groups == 0 && len(m.skipped) == 0 {
		return nil
	}
	e := m.c.Event
	e.ID, e.At, e.Action, e.UserID = schemas.NewID(), m.c.At, schemas.IdentityMapped, m.c.UserID
	detail := map[string]string{"providerId": m.c.ProviderID}
	if len(m.changed) > 0 {
		detail["attributes"] = strings.Join(m.changed, " ")
	}
	var left []string
	for _, name := range slices.Sorted(maps.Keys(m.skipped)) {
		left = append(left, name+"="+m.skipped[name])
	}
	if len(left) > 0 {
		detail["skipped"] = strings.Join(left, " ")
	}
	e.Detail = detail
	return m.t.recordEvents(e)
}

// recordMembership records a change of a group's members.
func (m *mapping) recordMembership(action, groupID string) error {
	m.groups++
	e := m.c.Event
	e.ID, e.At, e.Action, e.UserID = schemas.NewID(), m.c.At, action, m.c.UserID
	e.Resource = schemas.ResourceRef{Type: "group", ID: groupID}
	e.Detail = map[string]string{"providerId": m.c.ProviderID}
	return m.t.recordEvents(e)
}

// leaveProvider ends what a user has from a provider: the memberships in groups, and the ownership of attributes,
// whose values stay.
func (t *Tx) leaveProvider(userID, providerID string, at time.Time) error {
	if _, err := t.exec(deleteOwnerships, userID, providerID); err != nil {
		return err
	}
	m := &mapping{t: t, c: &schemas.MapIdentity{UserID: userID, ProviderID: providerID, At: at, Event: t.actor.event}, skipped: map[string]string{}, leaves: true}
	return m.mapGroups()
}

// leaveProviderAll is leaveProvider for all users.
func (t *Tx) leaveProviderAll(providerID string, at time.Time) error {
	users, err := readAll(t.ctx, t, scanValue[string], `SELECT user_id FROM provider_members WHERE provider_id = ?
		UNION SELECT user_id FROM attribute_owners WHERE provider_id = ? ORDER BY user_id`, providerID, providerID)
	if err != nil {
		return err
	}
	for _, id := range users {
		if err := t.leaveProvider(id, providerID, at); err != nil {
			return err
		}
	}
	return nil
}
