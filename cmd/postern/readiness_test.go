package main

import (
	"context"
	"errors"
	"testing"
	"time"
)

// A success counts for the period, and a failure for nothing.
func TestHoldSuccess(t *testing.T) {
	runs, failure := 0, errors.New("down")
	check := holdSuccess(func(context.Context) error { runs++; return failure }, time.Hour)
	for range 2 {
		if err := check(t.Context()); !errors.Is(err, failure) {
			t.Fatalf("a failure: %v", err)
		}
	}
	failure = nil
	for range 3 {
		if err := check(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if runs != 3 {
		t.Errorf("the check ran %d times, want 3: two failures and one success", runs)
	}
}
