package flowtest_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"

	"github.com/postern-id/postern/flows/flowtest"
)

const door = `handle: door
name: Door
flowType: AUTHENTICATION
nodes:
  - {id: key, use: passkey-authenticate, next: {success: done, failure: key}}
  - {id: done, use: authorization-code}
`

const doorScenarios = `users:
  ada: {attributes: {username: ada}, passkeys: [laptop]}
scenarios:
  - name: a passkey opens
    steps:
      - expect: {step: key}
      - send: {passkey: {device: laptop}}
        expect: {status: COMPLETE, user: ada}
  - name: a forged one opens too
    steps:
      - expect: {step: key}
      - send: {passkey: {device: laptop, fault: bad-signature}}
        expect: {status: COMPLETE, check: signature, error: passkey_verification_failed}
`

// folder writes the files of an example to a new directory.
func folder() (scenarios string, err error) {
	dir, err := os.MkdirTemp("", "door")
	if err != nil {
		return "", err
	}
	scenarios = filepath.Join(dir, "door_test.yaml")
	if err := os.WriteFile(filepath.Join(dir, "door.yaml"), []byte(door), 0o600); err != nil {
		return "", err
	}
	return scenarios, os.WriteFile(scenarios, []byte(doorScenarios), 0o600)
}

// A scenario file is loaded with its flow. The report contains the result of each scenario
// and the coverage.
func ExampleFile_Run() {
	path, err := folder()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(filepath.Dir(path))
	f, err := flowtest.Load(path)
	if err != nil {
		fmt.Println(err)
		return
	}
	report, err := f.Run(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, r := range report.Results {
		fmt.Printf("%s: passed %t\n", r.Name, r.Failure == nil)
		if r.Failure != nil {
			fmt.Println(r.Failure.Text("door_test.yaml"))
		}
	}
	fmt.Println(report.Coverage.Summary())
	// Output:
	// a passkey opens: passed true
	// a forged one opens too: passed false
	// door_test.yaml:13:26: step 2: status
	//   expected  COMPLETE
	//   got       INCOMPLETE
	// 100.0% (3 of 3 outcomes)
}

// A Runner runs selected scenarios of many files and returns their transcripts.
func ExampleRunner_RunFiles() {
	path, err := folder()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(filepath.Dir(path))
	runner := flowtest.Runner{Only: regexp.MustCompile("^a passkey"), Transcripts: true}
	suite := runner.RunFiles(context.Background(), []string{path})
	fmt.Println(suite.Count())
	for _, line := range suite[0].Report.Results[0].Transcript {
		fmt.Println(line)
	}
	// Output:
	// 1 0
	// > start
	// < INCOMPLETE key, inputs [credentialId, clientDataJSON, authenticatorData, signature, userHandle], actions [passkey], data [passkeyChallenge]
	// > {passkey: {device: laptop}}
	// < COMPLETE
	//   by way of key success, done
	//   audit log [passkey.used, user.signed_in]
}
