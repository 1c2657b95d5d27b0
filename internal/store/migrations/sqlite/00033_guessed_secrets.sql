-- +goose Up

-- Which kind of secret was guessed: a sign-in starts only the counters again of the
-- secrets that it proved. Counters from before do not tell, and are "": any sign-in
-- starts them again, as it did before.
ALTER TABLE failed_guesses ADD COLUMN secret TEXT NOT NULL DEFAULT '';
