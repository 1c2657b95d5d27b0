// Package throttle limits guesses and floods. [Throttle.Admit] is called before a request
// is served or a password is checked, and [Throttle.Done] afterwards with the outcome:
//
//	attempt := throttle.Attempt{Endpoint: throttle.Token, Network: network}
//	if err := t.Admit(&attempt); err != nil {
//		return err // 429, with Retry-After
//	}
//	err := serve(w, r)
//	t.Done(&attempt, outcome) // Passed, Failed, or Void for an internal fault
//
// [Throttle.Guess] does both around the check of a password.
//
// # Floods
//
// Every request costs its network a token; a request to a run also costs the run a token. A network
// is an IPv4 address or an IPv6 /64. The /24 or /48 around it has a larger budget, because
// addresses are rented by the block. The address is that of the connection; a field such as
// X-Forwarded-For is trusted only if [Proxies] states that a trusted proxy wrote it. At the token
// endpoint rejected requests are expensive and others cheap, because servers legitimately fetch
// thousands of tokens.
//
// # Guesses
//
// consecutivefailures.go limits how many guesses at an account may fail in a row, guessrate.go
// limits their rate, and guess.go applies both around a check.
//
// Passwords and one-time codes can be guessed. The signature of a passkey cannot, so
// sign-ins with a passkey are never counted by account and always remain possible. Only
// wrong guesses cost. They are charged in advance, because a thousand parallel guesses
// would otherwise all be checked before the first has failed, and refunded if right.
//
// Wrong guesses must not lock an account, because an attacker who knows the name could lock
// out its owner. So they are counted by origin:
//
//	a device that proves it signed in to the account before   its own budget
//	a network that signed in to the account before            its own, for this account
//	any other origin, all of:   the network, for this account
//	                            the network and the wider one, for all accounts
//	                            the account, for all unknown origins together
//
// A device proves itself with a sealed cookie, which the browser gets after a sign-in and
// which is valid for the accounts that have signed in with it: see [Device].
//
// These budgets refill; they limit the rate. Counters in the store ([Failures]) limit how many
// guesses may fail in a row. They survive restarts and all instances share them. The counters of an
// account add up to 100 (NIST SP 800-63B-4 §3.2.2), regardless of the networks; each known device
// has one in addition. A sign-in with the guessed factor or with two factors resets a counter, and
// so can an administrator. Until then the secret is not accepted from unknown origins; a passkey
// is, and a known device or network has guesses of its own. Users who sign in from their usual
// device or network are not affected, whether the attack targets their account or comes from their
// network.
//
// A wrong guess is counted before it is answered, and a right one is answered only below
// the limit. So of parallel guesses, on any number of instances, no more are answered than
// the limit allows, and right guesses write nothing. Counters belong to names as entered,
// together with the user they resolve to: one counter for the whole account would reveal
// which two names belong to one user. Unknown names are counted in the same way. Their
// counters are removed after a year, and the oldest of them when there are more than
// 250,000, so that guesses at invented names do not fill the disk.
//
// Remaining risks: an attacker on the owner's own network uses the owner's budget, unless
// the owner's device is known. A user without a passkey on a new network is rejected
// together with the attackers until the count is reset. An attacker who tries one password
// on each of very many accounts from as many networks is limited only by the pool that
// hashes passwords.
//
// Limits do not reveal which accounts exist: names are counted as entered, whether they
// exist or not.
//
// # Memory
//
// Counters keyed by client-chosen values can be flooded with keys. A [Limiter] has a fixed
// number of places and reuses a place only when its bucket is full, so that forgetting it
// changes nothing. When all places of a set are being spent, further keys share cells of a
// sketch, which errs by rejecting too much. So no flood can evict a key. A sketch that is
// flooded for long rejects every key without a place, so there are as many places as
// guesses that can be checked while one is remembered. Each table hashes keys with its own
// seed, so an attacker cannot aim at the place of another key, and no address or name is
// stored.
//
// # Instances
//
// Buckets are in the memory of one process. That is right for floods: each process protects
// itself, and a bucket in the database would turn every request into a write to the
// resource under protection. Failed guesses are counted in the store, where hashing bounds
// the number of writes. The budgets for guesses must not multiply by the number of
// processes, so they are divided by [Options].Instances: together the processes admit what
// one would, wherever the attacker's requests arrive. The cost is that a user whose requests
// always reach the same process has only a part of the budget, and that after a restart the
// budgets are full and no network is familiar.
package throttle
