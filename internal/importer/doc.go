// Package importer reads the exports of other identity products and imports them: users with their
// password hashes, authenticator apps, passkeys and memberships; clients, groups and roles; and the
// sign-in flows, which it translates to flow files.
//
// A [Source] reads the files of one product and returns its content in the terms of Postern: resources
// in the form of package declare, and users one by one. An [Import] writes them: resources first, in one
// transaction, then users in batches, each in a transaction. IDs follow from the IDs of the product, so
// a second run skips what the first one created, and an interrupted import continues.
//
// What cannot be imported is a [Finding], which also describes what to do instead. A dry run has the
// same findings and writes nothing. Findings never contain secrets, names or addresses.
package importer
