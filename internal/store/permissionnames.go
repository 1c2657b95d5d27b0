package store

import (
	"context"
	"fmt"
)

// A permission that is more than one action is everything below it.
const selectPermissionWord query = `SELECT CASE p.kind WHEN 'action' THEN p.name WHEN 'resource' THEN p.name || ': everything'
	ELSE s.name || ': everything' END FROM permissions p JOIN resource_servers s ON s.id = p.server_id WHERE p.permission = ?`

// PermissionNames returns what permissions are called by the resource servers that
// have them. One that there is not is left out.
func (s *Store) PermissionNames(ctx context.Context, permissions []string) (map[string]string, error) {
	words := map[string]string{}
	for _, permission := range permissions {
		if !isStorable(permission) {
			continue
		}
		var word string
		err := s.each(ctx, selectPermissionWord, func(row scanner) error { return row.Scan(&word) }, permission)
		if err != nil {
			return nil, fmt.Errorf("store: reading what a permission is called: %w", err)
		}
		if word != "" {
			words[permission] = word
		}
	}
	return words, nil
}
