package throttle

// Endpoint is what an attempt is made at; it decides which budgets pay for it.
type Endpoint uint8

// The endpoints.
const (
	// SignIn is any request to /flow/execute or /auth/passkey/*. It is never
	// counted by account: nobody guesses the signature of a passkey.
	SignIn   Endpoint = iota
	RunStart          // one that begins a run, besides
	RunStep           // one that continues a run, besides
	Token             // the token endpoint
	Register          // dynamic client registration
	Mail              // a mail that somebody has sent to an account
	Guess             // a password or one-time code that is about to be checked
	endpoints
)

// Attempt is one request, or one guess in it. It is good for one Admit and the
// Done that follows.
type Attempt struct {
	Endpoint Endpoint
	Network  Network
	// Account is whose secret is guessed, or who gets a mail, from AccountOf; only for
	// Guess and Mail.
	Account Key
	// Device is a device that has proved to the caller that it signed in to the
	// account before; zero when there is none. Only for Guess.
	Device Key
	// Run is the run the request is for, from KeyOf; only for RunStep.
	Run Key

	admitted int64 // when
	bill     bill
}

// Outcome is how an attempt came out.
type Outcome uint8

// The outcomes.
const (
	// Void is for what was neither right nor wrong: the guess was not checked,
	// because the server was too busy or the client went away.
	Void Outcome = iota
	Passed
	Failed
)
