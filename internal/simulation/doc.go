// Package simulation is for tests that simulate a server for months, with crashes, in one process.
// The simulation of Postern itself is in cmd/postern (simulation_*_test.go); this package has its
// mechanisms.
//
// # What runs
//
// The product runs unchanged: the handler of the whole server, the engine with its nodes, the
// directory, the authorization server, the delivery queue, and the store on SQLite. Its clients are
// simulated: browsers with cookies, an authenticator, a relying party, and an administrator. Requests
// are calls of the handler.
//
// # What is deterministic
//
// Everything follows from a seed, so that a seed replays a failure:
//
//   - Time. The simulation runs in a bubble of testing/synctest, in which [time.Now] is simulated.
//   - Random numbers. testing/cryptotest seeds crypto/rand; each round of a simulation has its own
//     source for everything else, so that leaving out a round does not change the others.
//   - Order. [Scheduler] runs one task at a time. A task pauses at each access to the store, and a
//     random number decides which task continues. [Trace] has a digest of all turns and replies.
//
// # Faults
//
// [Process] implements store.Hooks. Before each read, before each write, before each statement of a
// write, and after a write is durable and before it is acknowledged, the store is unavailable or the
// process crashes, at given rates. A crash fails all further accesses, so that the requests in
// progress end; their replies are lost. Then a new process opens the same database. A write can pause
// before a statement while other tasks add theirs, which then share the next commit ([Rates].Gather):
// a crash in one of them undoes all. Replies are also lost on the way to the client, targets of
// messages fail, and time passes between rounds: from a second to weeks.
//
// # What is checked
//
// A model, written from the documentation, gives the states in which a request can leave a user's
// sessions, codes and tokens, with the reply that was received. [Linearize] finds the states that some
// order of the concurrent requests can have led to. A request without a reply took effect or not, so
// that there can be several; the next replies tell which. If there is none, the replies contradict the
// documentation: something succeeded that had ended, or an acknowledged change was lost.
//
// # What is not simulated
//
// SQLite itself is trusted to be durable: a crash keeps what was committed and nothing else. There is
// one instance; PostgreSQL and several instances have tests of their own (internal/store/storetest).
package simulation
