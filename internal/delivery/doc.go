// Package delivery sends messages to other systems: logout tokens to clients, mails to
// users, calls to services. The transaction that causes a message queues it in the store,
// where it stays until it has arrived, was rejected, or has expired:
//
//	           claim                arrived
//	queued ------------> sending -------------> gone
//	  ^                   |  |      rejected
//	  |    put off        |  +----------------> gone, and an event
//	  +-------------------+
//	  |                                expired
//	  +---------------------------------------> gone, and an event
//
// A claim lasts for a lease, which is longer than sending may take. So two instances never
// send one delivery at once, and if one dies while it sends, another sends again after the
// lease. Delivery is thus at least once until expiry. The clocks of instances may differ by
// as much as the lease exceeds the time that sending may take.
//
// Each kind has its own limit of concurrent deliveries, and each target has its own within
// it: neither a mail server that does not answer nor a slow application delays others.
package delivery
