package bootstrap

import "testing"

// The error of a reply has no positions, which are in the generated JSON, and no problem twice.
func TestResponseError(t *testing.T) {
	for body, want := range map[string]string{
		`{"code":"a_exists","description":{"defaultValue":"a conflict: 1:9: name: \"A\" is taken"},"errors":[{"path":"name","message":"\"A\" is taken","line":1,"column":9}]}`: `a_exists: a conflict: name: "A" is taken`,
		`{"code":"invalid","description":{"defaultValue":"2 faults"},"errors":[{"message":"b","line":1,"column":2},{"message":"c"}]}`:                                          "invalid: 2 faults\n\tb\n\tc",
		`not JSON`: "POST /a returned status 409 without a Postern error: is this the right address?",
	} {
		if got := responseError("POST", "/a", 409, []byte(body)).Error(); got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
