package store

import (
	"context"

	"github.com/postern-id/postern/schemas"
)

// Suspect is a passkey that may have been added in a way that earlier releases left open.
type Suspect struct {
	schemas.Credential
	// Removed reports whether it was added to the account of an administrator who had removed another
	// passkey. Otherwise its user had used a limited passkey outside of a flow, where the limit was ignored.
	Removed bool
}

const (
	// Later releases record the credentials of the sign-in that added a passkey.
	unrecorded = ` AND c.added_by NOT LIKE '%=%'`

	selectLimitedPasskeys = `SELECT ` + credentialColumns + ` FROM credentials c WHERE NOT ` + CountsInFull + unrecorded + ` ORDER BY user_id, created_at, id`

	selectReplacingPasskeys = `SELECT ` + credentialColumns + ` FROM credentials c WHERE user_id IN (SELECT user_id FROM administrators)` + unrecorded + `
		AND EXISTS (SELECT 1 FROM events e WHERE e.user_id = c.user_id AND e.action = 'passkey.deleted' AND e.actor_id = c.user_id AND e.at <= c.created_at)
		ORDER BY user_id, created_at, id`
)

// Suspects returns passkeys that may have been added in ways that releases before schema version 49 left
// open, as far as the audit log shows it: limited passkeys that were used outside of a flow, what their users
// added afterwards, and passkeys of administrators who had removed one before.
func (s *Store) Suspects(ctx context.Context) (list []Suspect, err error) {
	replacing, err := readAll(ctx, s, scanCredential, "WITH RECURSIVE "+administrators+" "+selectReplacingPasskeys)
	if err != nil {
		return nil, err
	}
	for _, key := range replacing {
		list = append(list, Suspect{key, true})
	}
	limited, err := readAll(ctx, s, scanCredential, selectLimitedPasskeys)
	if err != nil {
		return nil, err
	}
	for _, key := range limited {
		found, err := s.usedBeyondLimit(ctx, key)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	return list, nil
}

// usedBeyondLimit returns a limited passkey if it was used outside of a flow, and the passkeys without a
// recorded sign-in that its user added afterwards.
func (s *Store) usedBeyondLimit(ctx context.Context, key schemas.Credential) (list []Suspect, err error) {
	uses, err := s.Events(ctx, schemas.EventQuery{UserID: key.UserID, Action: "passkey.used", Limit: 1000})
	if err != nil {
		return nil, err
	}
	for _, e := range uses { // the newest first
		if e.ExecutionDigest != "" || e.Detail["credentialId"] != key.ID.String() {
			continue
		}
		if len(list) == 0 {
			list = []Suspect{{key, false}}
		}
		all, err := s.Credentials(ctx, key.UserID)
		if err != nil {
			return nil, err
		}
		list = list[:1]
		for _, other := range all {
			if other.CreatedAt.After(e.At) && len(other.AddedBy.Proofs) == 0 {
				list = append(list, Suspect{other, false})
			}
		}
	}
	return list, nil
}
