package store

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/jmoiron/sqlx"
)

// query is one SQL statement, with ? for its parameters.
type query string

// forShare ends a query that blocks writers of the row until the transaction ends.
// SQLite, with its one writer, does not support it.
const forShare = " FOR SHARE"

// of returns the query in the dialect of a driver.
func (q query) of(driver string) string {
	if driver == "sqlite" {
		return strings.TrimSuffix(string(q), forShare)
	}
	return string(q)
}

// statements are queries prepared on a pool. They are prepared when the store is
// opened, so that an invalid one fails at once, and never change.
type statements map[query]*sqlx.Stmt

// prepare prepares the queries. Each connection of the pool prepares a query when it
// first runs it.
func prepare(ctx context.Context, db *pool, lists ...[]query) (statements, error) {
	bind := sqlx.QUESTION
	if db.DriverName() == "postgres" {
		bind = sqlx.DOLLAR
	}
	prepared := statements{}
	for _, list := range lists {
		for _, q := range list {
			stmt, err := db.PreparexContext(ctx, sqlx.Rebind(bind, q.of(db.DriverName())))
			if err != nil {
				return nil, fmt.Errorf("store: preparing %q: %w", q, err)
			}
			prepared[q] = stmt
		}
	}
	return prepared, nil
}

// readQueries returns the queries of reads.
func readQueries() []query {
	return []query{
		selectRun, selectUser, selectUserByIdentifier, selectPassword, selectPermissions,
		selectCredential, selectCredentials,
		selectApplicationPermissions, selectRegisteredScopes, selectTokenLive, selectSession, selectSessionByToken,
		selectAuthRequest, selectAuthRequestByCode, selectFamily, selectRedirects, selectOwnNames,
		selectConsent, selectPermissionWord,
		selectTOTP, selectRecoveryCode, selectRecoveryCodes,
		selectIdentityProvider, selectIdentity, selectIdentities,
		selectApplication, selectApplicationByClient, selectClientRevision, selectClientExpiry,
		selectActiveVersion, selectFlowVersion,
		selectFailedGuesses,
		countPendingRuns, countPendingRequests, countPendingSessions,
		selectKeys, selectExpiredDeliveries, selectInstances,
	}
}

// writeQueries returns the queries of writes.
func writeQueries() []query {
	return []query{
		upsertInstance, deleteInstance, deleteOldInstances,
		insertRun, updateRun, deleteExpiredRuns, deleteUnansweredRuns,
		insertUser, selectTypeRules, selectTypeOfUser, insertIdentifier, insertUniqueValue, upsertPassword, updatePasswordHash,
		insertCredential, updateCredentialUse, updateCredentialName, deleteCredential,
		insertSession, deleteSession, lockSession, insertSessionClient, selectSessionClients, deleteExpiredSessions, insertRevokedToken, deleteExpiredRevocations,
		bindSession, prolongSession,
		insertAuthRequest, selectOpen, updateGrant, updateApproval, updateRefusal, updateCode, updateRedeemed, selectRedeemed, deleteExpiredAuthRequests,
		insertFamily, selectFamily, deleteFamily, rotateFamily, deleteExpiredFamilies,
		upsertPasskeySession, deletePasskeySession, deleteExpiredPasskeySessions,
		insertFlow, selectFormerVersion, insertFlowVersion, insertFlowUse, advanceFlow, selectFlowClash,
		insertClientAssertion, deleteExpiredClientAssertions,
		insertKey, insertEvent, raiseKeptFrom, deleteOldEvents, insertSeeding,
		extendClientExpiry,
		insertDelivery, claimDelivery, putOffDelivery, deleteDelivery, giveUpDelivery,
		upsertConsent,
		insertTOTP, updateTOTPUse, deleteTOTP,
		insertRecoveryCode, updateRecoveryCodeUse, deleteRecoveryCodes,
		upsertIdentity, selectIssuer, updateIdentityUse, deleteIdentity,
		upsertFailedGuess, deleteFailedGuesses, deleteFailedGuessesAt, deleteOldFailedGuesses,
		lockUser, updateUserAttributes, deleteIdentifiers, deleteUniqueValues, deleteEmails,
		deleteIdentifier, insertEmail, selectEmailHolders,
		shareUser, shareSession, selectTokenLive, selectProofPassword, selectProofPasskey, selectProofTOTP, selectProofRecovery, selectProofIdentity, selectProofSession, selectUser,
		selectOwnSessions, updateSessionProofs, deleteOtherRuns, selectCredentialOwner, selectIdentityOwner,
	}
}

// row queries one row. A local database checks the context only before the query:
// watching it takes a goroutine, which costs more than the query.
func (s *Store) row(ctx context.Context, q query, args ...any) checkedRow {
	if s.local && ctx.Err() == nil {
		ctx = context.WithoutCancel(ctx)
	}
	return checkedRow{s.reads[q].Stmt.QueryRowContext(ctx, args...), s.db}
}

// each queries rows and calls scan with each of them.
func (s *Store) each(ctx context.Context, q query, scan func(scanner) error, args ...any) error {
	rows, err := s.reads[q].Stmt.QueryContext(ctx, args...)
	if err != nil {
		return s.db.check(err)
	}
	return s.db.check(scanAll(rows, scan))
}

func scanAll(rows *sql.Rows, scan func(scanner) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// scanner is a row, alone or among many.
type scanner interface{ Scan(dest ...any) error }

// tx is the transaction of a write. Without sql it executes a single statement, which
// is a transaction by itself.
type tx struct {
	ctx      context.Context
	sql      *sql.Tx
	prepared statements
	actor    actor
}

// exec runs a statement and returns how many rows it changed.
func (t *tx) exec(q query, args ...any) (int64, error) {
	result, err := t.stmt(q).ExecContext(t.ctx, args...)
	if err != nil {
		return 0, err
	}
	return result.RowsAffected()
}

// each queries rows and calls scan with each of them.
func (t *tx) each(q query, scan func(scanner) error, args ...any) error {
	found, err := t.stmt(q).QueryContext(t.ctx, args...)
	if err != nil {
		return err
	}
	return scanAll(found, scan)
}

// row queries one row, possibly of a statement that changes it (RETURNING).
func (t *tx) row(q query, args ...any) *sql.Row {
	return t.stmt(q).QueryRowContext(t.ctx, args...)
}

func (t *tx) stmt(q query) *sql.Stmt {
	stmt := t.prepared[q].Stmt
	if t.sql == nil {
		return stmt
	}
	return t.sql.StmtContext(t.ctx, stmt)
}
