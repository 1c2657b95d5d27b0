package store

import (
	"context"

	"github.com/postern-id/postern/schemas"
)

// selectBrand finds the nearest unit with a logo, starting at a unit and going up. The depth ends
// the search if the database has a cycle.
const selectBrand = `WITH RECURSIVE above (name, logo_url, parent_id, depth) AS (
		SELECT name, logo_url, parent_id, 0 FROM organization_units WHERE id = ?
		UNION ALL
		SELECT u.name, u.logo_url, u.parent_id, above.depth + 1 FROM above JOIN organization_units u ON u.id = above.parent_id
			WHERE above.logo_url = '' AND above.depth < 100)
	SELECT name, logo_url FROM above WHERE logo_url <> '' LIMIT 1`

// Brand returns the name and logo of the organization unit, or of the nearest unit above that has a
// logo; nil if none has.
func (s *Store) Brand(ctx context.Context, unitID string) (*schemas.Brand, error) {
	return remember(s, "brand "+unitID, func() (*schemas.Brand, error) { return BrandOf(ctx, s, unitID) })
}

// BrandOf is Brand for a transaction.
func BrandOf(ctx context.Context, r Reader, unitID string) (*schemas.Brand, error) {
	found, err := readAll(ctx, r, func(row scanner, b *schemas.Brand) error { return row.Scan(&b.Name, &b.LogoURL) }, selectBrand, unitID)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}
