package throttle

// Endpoint is the target of an attempt. It selects the budgets that are charged.
type Endpoint uint8

// The endpoints.
const (
	// SignIn is any request to /flow/execute or /auth/passkey/*. It is never counted by
	// account, because a passkey's signature cannot be guessed.
	SignIn   Endpoint = iota
	RunStart          // a request that starts a run; charged in addition to SignIn
	RunStep           // a request that continues a run; charged in addition to SignIn
	Token             // the token endpoint
	Register          // dynamic client registration
	Mail              // a mail sent to an account
	Guess             // a password or one-time code that is about to be checked
	endpoints
)

// endpointNames are the names of the endpoints in metrics.
func endpointNames() [endpoints]string {
	return [endpoints]string{
		SignIn: "sign_in", RunStart: "run_start", RunStep: "run_step", Token: "token", Register: "register", Mail: "mail", Guess: "guess",
	}
}

// Attempt is one request, or one guess in it. It is used for one Admit and the Done that
// follows.
type Attempt struct {
	Endpoint Endpoint
	Network  Network
	// Account is the account whose secret is guessed or that receives a mail, from
	// AccountOf; only for Guess and Mail.
	Account Key
	// Device is a device that has proved that it signed in to the account before; zero for
	// none. Only for Guess.
	Device Key
	// Run is the run that the request belongs to, from KeyOf; only for RunStep.
	Run Key

	admitted int64 // time of admission
	origin   origin
}

// Outcome is the result of an attempt.
type Outcome uint8

// The outcomes.
const (
	// Void means that the guess was not checked, because the server was too busy or the
	// client disconnected.
	Void Outcome = iota
	Passed
	Failed
)
