package store

import (
	"context"
	"database/sql"
	"fmt"
)

const selectRedirects query = `SELECT redirect_uris, registration = '' OR verified FROM oauth_profiles
	JOIN applications ON id = application_id WHERE redirect_uris IS NOT NULL`

// RedirectURIs returns the registered redirect URIs of all clients: those of trusted clients
// and those of all others.
func (s *Store) RedirectURIs(ctx context.Context) (vouched, others []string, err error) {
	err = s.each(ctx, selectRedirects, func(row scanner) error {
		var registered sql.NullString
		var isVouched bool
		err := row.Scan(&registered, &isVouched)
		if isVouched {
			vouched = append(vouched, list(registered)...)
		} else {
			others = append(others, list(registered)...)
		}
		return err
	})
	if err != nil {
		return nil, nil, fmt.Errorf("store: reading redirect URIs: %w", err)
	}
	return vouched, others, nil
}
