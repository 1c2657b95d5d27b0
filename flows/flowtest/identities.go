package flowtest

import (
	"context"
	"slices"

	"github.com/postern-id/postern/schemas"
)

// IdentityProvider returns an identity provider by its handle.
func (m *Memory) IdentityProvider(_ context.Context, handle string) (*schemas.IdentityProvider, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if p, ok := m.providers[handle]; ok {
		return &p, nil
	}
	return nil, notFound(schemas.CodeProviderNotFound, "identity provider", handle)
}

// Identity returns the identity of the subject at the provider, nil if it is not linked.
func (m *Memory) Identity(_ context.Context, providerID, subject string) (*schemas.Identity, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := m.identity(providerID, subject); i >= 0 {
		found := m.identities[i]
		return &found, nil
	}
	return nil, nil
}

// UserIdentities returns the identities of a user, in the order of their linking.
func (m *Memory) UserIdentities(_ context.Context, userID string) (list []schemas.Identity, _ error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, i := range m.identities {
		if i.UserID == userID {
			list = append(list, i)
		}
	}
	slices.SortStableFunc(list, func(a, b schemas.Identity) int { return a.CreatedAt.Compare(b.CreatedAt) })
	return list, nil
}

// identity returns the index of an identity, or -1.
func (m *Memory) identity(providerID, subject string) int {
	return slices.IndexFunc(m.identities, func(i schemas.Identity) bool { return i.ProviderID == providerID && i.Subject == subject })
}

func (m *Memory) changeIdentity(change schemas.Change) error {
	switch c := change.(type) {
	case schemas.LinkIdentity:
		return m.linkIdentity(c.Identity)
	case schemas.UseIdentity:
		i := slices.IndexFunc(m.identities, func(i schemas.Identity) bool { return i.ID == c.ID })
		if i < 0 {
			return notFound(schemas.CodeIdentityNotFound, "identity", c.ID)
		}
		if used := &m.identities[i]; used.LastUsedAt == nil || used.LastUsedAt.Before(c.At) {
			used.LastUsedAt = &c.At
		}
	case schemas.UnlinkIdentity:
		m.identities = slices.DeleteFunc(m.identities, func(i schemas.Identity) bool { return i.ID == c.ID })
	}
	return nil
}

func (m *Memory) linkIdentity(linked schemas.Identity) error {
	if err := m.checkUserExists(linked.UserID); err != nil {
		return err
	}
	i := m.identity(linked.ProviderID, linked.Subject)
	switch {
	case i < 0:
		m.identities = append(m.identities, linked)
	case m.identities[i].UserID != linked.UserID:
		return schemas.Errorf(schemas.Conflict, schemas.CodeIdentityTaken, "the identity is another user's")
	default:
		m.identities[i].Name = linked.Name
	}
	return nil
}
