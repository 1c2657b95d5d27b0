package store_test

import (
	"database/sql"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/store"
	"github.com/postern-id/postern/schemas"
)

// beforeGenerations is the last schema without generations of tokens, and what a store
// of it may hold: a client whose access tokens last a year, of its own and of users,
// and one that never acts on its own behalf.
const (
	beforeGenerations = 14
	oldClients        = `
INSERT INTO organization_units (id, handle, name, description, parent_id, created_at, updated_at) VALUES ('` + unitID + `', 'default', 'Default', '', NULL, 1000000, 1000000);
INSERT INTO applications (id, name, description, ou_id, url, logo_url, tos_uri, policy_uri, auth_flow_id, registration_flow_id,
	registration_enabled, assertion_validity, client_id, created_at, updated_at) VALUES
	('` + consoleID + `', 'Job', '', '` + unitID + `', '', '', '', '', '', '', FALSE, 0, 'job', 1000000, 1000000),
	('` + rootID + `', 'App', '', '` + unitID + `', '', '', '', '', '', '', FALSE, 0, 'app', 1000000, 1000000);
INSERT INTO oauth_profiles (application_id, grant_types, auth_method, pkce_required, public_client, access_token_validity, id_token_validity, id_token_alg, refresh_token_validity, jwks_uri) VALUES
	('` + consoleID + `', 'authorization_code
client_credentials', 'client_secret_basic', TRUE, FALSE, 31536000, 0, '', 0, ''),
	('` + rootID + `', 'authorization_code', 'none', TRUE, TRUE, 31536000, 0, '', 0, '')`
)

// Tokens issued before an upgrade stay valid until they expire, and access tokens that
// a client gets on its own behalf are bounded.
func TestAudit20TokensOfAnOlderStoreStayValid(t *testing.T) {
	sequential(t)
	for name, where := range databases() {
		t.Run(name, func(t *testing.T) {
			c := where(t)
			noError(t, store.MigrateTo(t.Context(), c, beforeGenerations))
			db, err := sql.Open(c.Driver, c.DSN)
			noError(t, err)
			for statement := range strings.SplitSeq(oldClients, ";\n") {
				_, err := db.ExecContext(t.Context(), statement)
				noError(t, err)
			}
			noError(t, db.Close())
			s, err := store.Open(t.Context(), c)
			noError(t, err)
			t.Cleanup(func() { noError(t, s.Close()) })
			for client, validity := range map[string]int{"job": 86400, "app": 31536000} {
				app, err := s.ApplicationByClientID(t.Context(), client)
				noError(t, err)
				equal(t, "the validity of the access tokens of "+client, app.OAuth().Token.AccessToken.ValidityPeriod, validity)
				live, err := s.TokenLive(t.Context(), schemas.TokenRef{ID: "t", Client: client})
				noError(t, err)
				equal(t, "whether a token of "+client+" from before counts", live, true)
			}
		})
	}
}
