// Package flowtest runs scenario tests of flows: offline, in memory, with
// software authenticators, in milliseconds.
//
// A scenario file stands beside its flow: passkey_sign_in_test.yaml tests
// passkey_sign_in.yaml. It says who exists and, step by step, what a client
// sends and what it must get:
//
//	users:
//	  ada: {attributes: {username: ada}, password: correct horse, passkeys: [laptop]}
//	scenarios:
//	  - name: a passkey signs in
//	    steps:
//	      - expect: {step: autofill, data: [passkeyChallenge]}
//	      - send: {passkey: {device: laptop}}
//	        expect: {status: COMPLETE, claims: {username: ada}}
//	  - name: so does whoever has done so five minutes ago
//	    session: {user: ada, amr: [hwk, pop], age: 5m}
//	    login: {maxAge: 600}
//	    steps:
//	      - expect: {status: COMPLETE, claims: {username: ada}}
//
// The first step starts the run. A later one answers the step before: with an
// action, inputs, or the answer of a software authenticator to the ceremony
// that was offered, which may misbehave in a way that `fault` names. What
// `expect` leaves out is not looked at, but a step that reports an error the
// scenario does not expect fails.
//
// With `request` the run answers an authorization request, and `login` is what that
// asks of the sign-in. Such a run is told of `session`, which the browser has from
// an earlier sign-in.
//
// Results are told with the place of each expectation that is not met, and with a
// transcript of what led there. Nothing writes expectations anew: they say who gets
// in, and a tool that made them agree with the flow would silence the alarm.
//
// The flow is run by the same engine, nodes and WebAuthn code as in the server;
// only the store is a map. The clock stands still unless a step says `after`.
// docs/testing.md says all that a scenario can say.
package flowtest
