// Package target makes the requests of flows to the services that the operator has
// configured: it asks and waits, or tells by way of the delivery queue.
//
// Every request has an id, which is the same whenever it is repeated, as
// Idempotency-Key and as webhook-id. With a secret it is signed as Standard Webhooks
// says, so that the receiver knows from whom it is, and that nobody has changed or
// kept it. Where a request goes is the operator's URL and the flow's path below it;
// which addresses that may lead to is for package outbound to judge, as with all
// others.
package target
