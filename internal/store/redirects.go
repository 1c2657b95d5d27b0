package store

import (
	"context"
	"database/sql"
	"fmt"
)

const selectRedirects query = `SELECT redirect_uris FROM oauth_profiles WHERE redirect_uris IS NOT NULL`

// RedirectURIs returns all that are registered, those of every client.
func (s *Store) RedirectURIs(ctx context.Context) (uris []string, err error) {
	err = s.each(ctx, selectRedirects, func(row scanner) error {
		var registered sql.NullString
		err := row.Scan(&registered)
		uris = append(uris, list(registered)...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("store: reading redirect URIs: %w", err)
	}
	return uris, nil
}
