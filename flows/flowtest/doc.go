// Package flowtest runs scenario tests of flows: offline, in memory, with
// software authenticators, in milliseconds.
//
// A scenario file is in the directory of its flow: passkey_sign_in_test.yaml tests
// passkey_sign_in.yaml. It lists the existing users and, step by step, the requests
// of a client and the expected replies:
//
//	users:
//	  ada: {attributes: {username: ada}, password: correct horse, passkeys: [laptop]}
//	scenarios:
//	  - name: a passkey signs in
//	    steps:
//	      - expect: {step: autofill, data: [passkeyChallenge]}
//	      - send: {passkey: {device: laptop}}
//	        expect: {status: COMPLETE, claims: {username: ada}}
//	  - name: so does a user with a session of five minutes ago
//	    session: {user: ada, amr: [hwk, pop], age: 5m}
//	    login: {maxAge: 600}
//	    steps:
//	      - expect: {status: COMPLETE, claims: {username: ada}}
//
// The first step starts the run. Each later step answers the previous one: with an
// action, inputs, or the answer of a software authenticator to the offered ceremony.
// `fault` names a way in which the authenticator misbehaves. Members that `expect`
// omits are not compared, but a step with an unexpected error fails.
//
// With `request` the run answers an authorization request; `login` contains the
// request's demands on the sign-in. Such a run receives `session`, the browser's
// session from an earlier sign-in.
//
// Results contain the position of each expectation that is not met, and a transcript
// of the run. No tool rewrites expectations: they state who gets in, and adjusting
// them to the flow would hide a fault.
//
// Scenarios run with the engine, nodes and WebAuthn code of the server; only the store
// is in memory. The clock does not advance except by `after`.
// docs/testing.md describes all members of a scenario.
package flowtest
