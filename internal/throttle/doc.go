// Package throttle limits what can be guessed or flooded. A [Throttle] is asked
// before a request is served or a password is checked, and told afterwards how
// that came out:
//
//	attempt := throttle.Attempt{Endpoint: throttle.Token, Network: network}
//	if err := t.Admit(&attempt); err != nil {
//		return err // 429, with Retry-After
//	}
//	err := serve(w, r)
//	t.Done(&attempt, outcome) // Passed, Failed, or Void if it was nobody's fault
//
// [Throttle.Guess] does both around the check of a password.
//
// # Floods
//
// Every request costs its network a token; those to a run cost the run one, too.
// A network is an IPv4 address or an IPv6 /64, and around it a looser budget is
// that of the /24 or /48, as addresses are rented by the block. The address is
// that of the connection; a field such as X-Forwarded-For is believed where
// [Proxies] says that a proxy wrote it, and nowhere else. At the token endpoint
// only what is refused is dear: servers fetch tokens by the thousand.
//
// # Guesses
//
// What may be guessed are passwords and one-time codes. A passkey's signature is
// not, so signing in with one is never counted for an account, and is always a
// way in. Only wrong guesses cost. Their price is taken in advance, as a thousand
// guesses at once would else all be made before the first has failed, and given
// back when the guess was right.
//
// An account must not be locked by wrong guesses: whoever knows a name could
// lock its owner out. So they are counted for who makes them:
//
//	a device that proves it signed in to the account before   its own budget
//	a network that signed in to the account before            its own, for this account
//	anybody else, all of:   the network, for this account
//	                        the network and the wider one, for all accounts
//	                        the account, for all strangers together
//
// What proves a device is a cookie that the browser got when somebody had signed in
// with it, sealed, and good for the accounts of those people alone: see [Device].
//
// These budgets refill; they set the pace. How many guesses may fail in a row is
// bounded by counters in the store ([Failures]), which outlive the process and are
// shared by all instances. Those of an account add up to 100 (NIST SP 800-63B-4
// §3.2.2), whatever networks the guesses come from; each known device has one of its
// own besides. A counter starts again when the user signs in, by any means, and when
// an administrator says so. Until then strangers are refused: more is asked of them
// than a password, namely a passkey, or a device or network that is known. Users who
// sign in from where they always do notice nothing, whether the attack comes at their
// account or out of their own network at others.
//
// A wrong guess is counted before it is answered, and a right one is answered only
// below the limit. So of guesses that are checked at the same time, on any number of
// instances, no more are answered than the limit allows, and right ones write
// nothing. Counters belong to names as they are typed, with the user that they lead to:
// one for the whole account would tell which two names are one user's. Names of
// nobody are counted in the same way. Their counters are removed after a year, and the
// oldest of them when there are more than 250,000, so that guesses at made-up names
// do not fill the disk.
//
// What is left: someone on the owner's own network guesses from the owner's
// budget, unless the owner's device is known; somebody without a passkey on a
// network never used before is refused with the attackers until the count starts again; and
// whoever tries one password on each of very many accounts, from as many
// networks, is bounded by the pool that hashes passwords alone.
//
// Limits do not tell who has an account: names are counted as typed, whether
// there is such a user or not.
//
// # Memory
//
// Whatever is counted by a key that a client chooses can be flooded with keys. A
// [Limiter] has a fixed number of places, and gives one away only when its
// bucket is full, that is when forgetting it changes nothing. When all places of
// a set are being spent, further keys share cells of a sketch, which errs by
// refusing too much. So no flood makes it forget. A sketch that is flooded for
// long refuses everybody who has no place, so there are as many places as guesses
// can be checked while one is remembered. Keys are hashed with a
// seed that each table makes for itself, so nobody can aim at the place of
// another, and no address or name is kept.
//
// # Instances
//
// Buckets are in the memory of one process. For floods that is right: each
// process protects itself, and a bucket in the database would make every request
// a write to what is to be protected. Failed guesses are counted in the store, where
// hashing bounds how many writes there are. The budgets for guesses must not multiply by
// the number of processes either, so they are divided by [Options].Instances:
// together the processes admit what one would have admitted, wherever the
// attacker's requests end up. The price is that a person who is always led to
// the same process has a part of the budget only, and that after a restart the
// budgets are full and no network is familiar. Both err within what one start
// allows; neither is needed by another process to do right.
package throttle
