package oauth

import (
	"testing"
	"time"
)

// TestOriginsAreFresh bounds how long an instance does not know the origins of an application that
// another instance has stored.
func TestOriginsAreFresh(t *testing.T) {
	if originsTTL > time.Second {
		t.Errorf("origins are cached for %v, expected at most a second", originsTTL)
	}
}
