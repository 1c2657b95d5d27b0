// Package delivery sends what is to be sent to others: who is told that a session
// has ended, who gets a mail. What is sent is queued in the store, by the
// transaction that causes it, and stays there until it has arrived, was refused, or
// has expired:
//
//	           claim                arrived
//	queued ------------> sending -------------> gone
//	  ^                   |  |      refused
//	  |    put off        |  +----------------> gone, and an event
//	  +-------------------+
//	  |                                expired
//	  +---------------------------------------> gone, and an event
//
// Who claims a delivery has it for a time, the lease, which is longer than sending
// may take. So no two instances send one delivery at once, and if one dies while it
// sends, another does it again when the lease is over. What is sent may thus arrive
// twice, and never not at all while it is worth anything. The clocks of instances
// may differ by as much as the lease is longer than sending may take.
//
// Each kind has its own bound on how much is under way at once, and each target its
// own within it: neither a mail server that does not answer nor an application that
// is slow holds up anybody else.
package delivery
