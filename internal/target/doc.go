// Package target makes the requests of flows to the services that the operator has
// configured: queries wait for the reply, notifications go through the delivery queue.
//
// Every request has an id, the same on every retry, as Idempotency-Key and as webhook-id.
// With a secret it is signed by Standard Webhooks, so that the receiver can verify its
// origin and integrity and detect replays. The address is the operator's URL plus the
// flow's path; package outbound checks where it may lead.
package target
