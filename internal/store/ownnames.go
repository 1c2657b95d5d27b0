package store

import (
	"context"
	"fmt"
)

const selectOwnNames query = `SELECT name FROM applications WHERE registration = ''`

// OwnApplicationNames returns the names of the applications that administrators made.
func (s *Store) OwnApplicationNames(ctx context.Context) (names []string, err error) {
	if err := s.each(ctx, selectOwnNames, into(&names)); err != nil {
		return nil, fmt.Errorf("store: reading the names of applications: %w", err)
	}
	return names, nil
}
