package throttle

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/postern-id/postern/schemas"
)

func TestGuess(t *testing.T) {
	busy := errors.New("busy")
	for name, c := range map[string]struct {
		right bool
		err   error
		want  int
	}{
		"wrong":       {false, nil, 2},
		"right":       {true, nil, 20},
		"not checked": {false, busy, 20},
	} {
		w := newFixture(t, Options{Budgets: Budgets{PairGuesses: Budget{2, time.Minute}}})
		ctx := NewContext(context.Background(), network(1))
		checked := 0
		for range 20 {
			right, err := w.Guess(ctx, schemas.Guess{Secret: schemas.PasswordSecret, Name: "ada"}, func() (bool, error) {
				checked++
				return c.right, c.err
			})
			if schemas.HasClass(err, schemas.Throttled) {
				break
			}
			if right != c.right || !errors.Is(err, c.err) {
				t.Errorf("%s: came out as %v, %v", name, right, err)
			}
		}
		if checked != c.want {
			t.Errorf("%s: %d were checked, want %d", name, checked, c.want)
		}
		if _, err := w.Guess(NewContext(ctx, network(2)), schemas.Guess{Secret: schemas.PasswordSecret, Name: "ada"}, func() (bool, error) { return true, nil }); err != nil {
			t.Errorf("%s: another network pays for it: %v", name, err)
		}
	}
}

// Guesses without a known network are limited by account.
func TestGuessWithoutAnAddress(t *testing.T) {
	w := newFixture(t, Options{Budgets: Budgets{AccountGuesses: Budget{2, time.Minute}}})
	refused := false
	for range 3 {
		_, err := w.Guess(context.Background(), schemas.Guess{Secret: schemas.PasswordSecret, Name: "ada"}, func() (bool, error) { return false, nil })
		refused = err != nil
	}
	if !refused {
		t.Error("a third was checked")
	}
}
