package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/postern-id/postern/schemas"
)

// selectSignIns reads what decides how users sign in to an application, which tokens the application gets of its own,
// and what claims it gets.
const selectSignIns = `SELECT id, name, client_id, ou_id, auth_flow_id, registration_flow_id, recovery_flow_id, invitation_flow_id, address_flow_id,
	registration_enabled, allowed_user_types, registration, verified, require_consent, identifies_by, assertion_attributes,
	application_id, grant_types, scopes, claims, scope_claims, access_token_attributes, id_token_attributes, userinfo_attributes FROM applications` + joinProfiles + ` ORDER BY id`

// SignIns returns all applications, ordered by id, with only the members that decide how users sign in, which tokens the
// application gets of its own, and what claims it gets.
func SignIns(ctx context.Context, r Reader) ([]schemas.Application, error) {
	return readAll(ctx, r, func(row scanner, a *schemas.Application) error {
		var owner sql.NullString
		var c schemas.OAuthProfile
		err := row.Scan(&a.ID, &a.Name, (*nullText)(&a.ClientID), &a.OUID, &a.AuthFlowID, &a.RegistrationFlowID, &a.RecoveryFlowID, &a.InvitationFlowID, &a.AddressFlowID,
			&a.IsRegistrationFlowEnabled, (*lines)(&a.AllowedUserTypes), &a.Registration, &a.Verified, &a.RequireConsent, &a.IdentifiesBy, (*lines)(&a.Assertion.UserAttributes),
			&owner, (*lines)(&c.GrantTypes), (*lines)(&c.Scopes), asJSON(&c.Claims), asJSON(&c.ScopeClaims),
			(*lines)(&c.Token.AccessToken.UserAttributes), (*lines)(&c.Token.IDToken.UserAttributes), (*lines)(&c.UserInfo.UserAttributes))
		if owner.Valid {
			a.InboundAuthConfig = []schemas.InboundAuth{{Type: "oauth2", Config: c}}
		}
		return err
	}, selectSignIns)
}

// ApplicationGrants returns the permissions that applications have through roles, by the ids of the
// applications.
func ApplicationGrants(ctx context.Context, r Reader) (map[string][]string, error) {
	granted := map[string][]string{}
	return granted, rows(ctx, r, func(row scanner) error {
		var id, permission string
		err := row.Scan(&id, &permission)
		granted[id] = append(granted[id], permission)
		return err
	}, `SELECT a.application_id, p.permission FROM role_assignments a JOIN role_permissions p ON p.role_id = a.role_id
		WHERE a.application_id >= '' ORDER BY a.application_id, p.permission`)
}

// SystemRevision returns a number that grows with each change of what checks of the whole system
// depend on: see CountSystemChange.
func SystemRevision(ctx context.Context, r Reader) (int64, error) {
	return readValue[int64](ctx, r, selectState, systemRevision)
}

// CountSystemChange counts a change of what checks of the whole system depend on: the flows, how users
// sign in to applications, and the user types. Flows count their changes themselves. The number increases
// at the end of a transaction, once: its row is the last lock that the transaction waits for. Two that
// change the system and each other's rows would otherwise wait for each other.
func CountSystemChange(t *Tx) { t.changesSystem = true }

// ChangesSystem reports whether a reader is a transaction that has changed the system.
func ChangesSystem(r Reader) bool {
	t, is := r.(*Tx)
	return is && t.changesSystem
}

// countSystem increases the number if the transaction has changed the system.
func (t *Tx) countSystem() error {
	if !t.changesSystem || t.countedSystem {
		return nil
	}
	t.countedSystem = true
	_, err := t.exec(lockState, systemRevision)
	return err
}

// RevisionBefore returns the revision of the system without the changes of a transaction, which must make no
// further ones. No other transaction changes the system until it ends.
func RevisionBefore(ctx context.Context, t *Tx) (int64, error) {
	if err := t.countSystem(); err != nil {
		return 0, err
	}
	now, err := SystemRevision(ctx, t)
	if t.countedSystem {
		now--
	}
	return now, err
}

// Former is the last state of an application that had an identifier.
type Former struct {
	Identifier string // "id/…" or "client/…"
	State      schemas.FormerApplication
}

// formerState is the stored form of a former application. The parts contain the flows by their ids.
type formerState struct {
	ID           string                      `json:"id"`
	Name         string                      `json:"name"`
	Account      bool                        `json:"account,omitempty"`
	ManagesUsers bool                        `json:"managesUsers,omitempty"`
	Unlimited    bool                        `json:"unlimited,omitempty"`
	Flows        map[string]flowPart         `json:"flows,omitempty"`
	Types        map[string]schemas.FlowType `json:"types,omitempty"`
}

func (s formerState) application() schemas.FormerApplication {
	a := schemas.FormerApplication{SystemApplication: schemas.SystemApplication{
		ID: s.ID, Name: s.Name, Account: s.Account, ManagesUsers: s.ManagesUsers, Unlimited: s.Unlimited,
	}}
	flows := flowsOf(s.Flows)
	for _, id := range slices.Sorted(maps.Keys(flows)) {
		flows[id].FlowType, flows[id].ActiveVersion = s.Types[id], 0 // it is not the stored flow
		a.Flows = append(a.Flows, flows[id])
	}
	return a
}

// KeepFormer stores the last state of an application that loses its identifiers, in place of an
// earlier one.
func KeepFormer(t *Tx, identifiers []string, last schemas.FormerApplication, at time.Time) error {
	flows, types := map[string]*schemas.Flow{}, map[string]schemas.FlowType{}
	for _, f := range last.Flows {
		flows[f.ID], types[f.ID] = f, f.FlowType
	}
	text, err := json.Marshal(formerState{last.ID, last.Name, last.Account, last.ManagesUsers, last.Unlimited, partsOf(flows), types})
	for _, identifier := range identifiers {
		if err == nil {
			_, err = t.exec(`INSERT INTO former_applications (identifier, state, deleted_at) VALUES (?, ?, ?)
				ON CONFLICT (identifier) DO UPDATE SET state = excluded.state, deleted_at = excluded.deleted_at`, identifier, string(text), toMicros(at))
		}
	}
	return err
}

// FormerOf returns the last states of the applications that had the identifiers.
func FormerOf(ctx context.Context, r Reader, identifiers []string) (list []Former, err error) {
	for some := range slices.Chunk(identifiers, maxOwners) {
		err := rows(ctx, r, func(row scanner) error {
			var f Former
			var text string
			if err := row.Scan(&f.Identifier, &text); err != nil {
				return err
			}
			var s formerState
			err := json.Unmarshal([]byte(text), &s)
			f.State = s.application()
			list = append(list, f)
			return err
		}, "SELECT identifier, CAST(state AS TEXT) FROM former_applications WHERE identifier IN ("+placeholders(len(some))+") ORDER BY identifier", toArgs(some)...)
		if err != nil {
			return nil, err
		}
	}
	return list, nil
}
