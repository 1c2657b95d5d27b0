package store

import "context"

// RelyingParty is a relying party with the number of its passkeys and of their users.
type RelyingParty struct {
	ID              string
	Passkeys, Users int
}

const selectOtherRelyingParties = `SELECT rp_id, COUNT(*), COUNT(DISTINCT user_id) FROM credentials WHERE rp_id <> ? GROUP BY rp_id ORDER BY rp_id`

// OtherRelyingParties returns the relying parties of stored passkeys except the one with the id.
func (s *Store) OtherRelyingParties(ctx context.Context, id string) ([]RelyingParty, error) {
	return readAll(ctx, s, func(row scanner, p *RelyingParty) error { return row.Scan(&p.ID, &p.Passkeys, &p.Users) }, selectOtherRelyingParties, id)
}
