package main

import (
	"cmp"
	"flag"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"
)

// simLength is how many rounds a simulation has.
const simLength = 100

// The flags of the simulation, for `make simulate` and to replay a failure.
var (
	simSeed   = flag.Uint64("simulation.seed", 1, "the first seed of TestSimulation")
	simSeeds  = flag.Uint64("simulation.seeds", 4, "how many seeds TestSimulation runs")
	simRounds = flag.Int("simulation.rounds", simLength, "how many rounds each seed has")
	simShrink = flag.Bool("simulation.shrink", true, "whether TestSimulation shrinks a failure")
	simDense  = flag.Bool("simulation.dense", false, "whether nearly every round of TestSimulation crashes, and many starts")
	simBug    = flag.String("simulation.bug", "", "the planted bug of TestSimulation")
)

// quietLibraries silences the default logger, which libraries use, for the length of a test.
func quietLibraries(t *testing.T) {
	former := slog.SetLogLoggerLevel(slog.LevelError + 1)
	t.Cleanup(func() { slog.SetLogLoggerLevel(former) })
}

// TestSimulation simulates seeds, and prints the figures. A failure is shrunk and printed with the
// command that replays it.
func TestSimulation(t *testing.T) {
	sequential(t)
	quietLibraries(t)
	image := makeSimImage(t)
	began, total := time.Now(), simResult{}
	for seed := *simSeed; seed < *simSeed+*simSeeds; seed++ {
		o := simOptions{seed: seed, rounds: *simRounds, dense: *simDense}
		if bug, planted := plantedBugs()[*simBug]; planted {
			o.bug = &bug
		}
		r := simulate(t, image, o)
		total.add(r.simCounts)
		total.elapsed += r.elapsed
		if r.failure != "" {
			reportFailure(t, image, o, r)
		}
	}
	const year = 365 * 24 * time.Hour
	t.Logf("%d seeds in %s: %.2f simulated years, %d crashes (%d in a write while others waited, %d of starts), %d requests", *simSeeds, time.Since(began).Round(time.Second),
		float64(total.elapsed)/float64(year), total.crashes, total.shared, total.starts, total.requests)
}

// reportFailure leaves out the rounds that the failure does not need, and reports the rest.
func reportFailure(t *testing.T, image simImage, o simOptions, r simResult) {
	o.skip = map[int]bool{}
	for n := 1; n <= o.rounds && *simShrink; n++ {
		o.skip[n] = true
		if without := simulate(t, image, o); without.failure == "" {
			delete(o.skip, n)
		} else {
			r = without
		}
	}
	var rounds []int
	for n := 1; n <= o.rounds; n++ {
		if !o.skip[n] {
			rounds = append(rounds, n)
		}
	}
	t.Errorf("seed %d: %s\nit needs the rounds %v; to replay it: go test ./cmd/postern -run '^TestSimulation$' -simulation.seed %d -simulation.seeds 1 -simulation.rounds %d\nthe end of the trace:\n  %s",
		o.seed, r.failure, rounds, o.seed, o.rounds, strings.Join(r.last, "\n  "))
}

// TestSimulationIsDeterministic runs a seed twice, and another one, also with many crashes. Some of
// those are of starts, and of a write while others wait.
func TestSimulationIsDeterministic(t *testing.T) {
	sequential(t)
	quietLibraries(t)
	image := makeSimImage(t)
	for _, dense := range []bool{false, true} {
		total := simCounts{}
		digest := func(seed uint64) string {
			r := simulate(t, image, simOptions{seed: seed, rounds: 30, dense: dense})
			if total.add(r.simCounts); r.failure != "" {
				t.Errorf("seed %d: %s", seed, r.failure)
			}
			return r.digest
		}
		first := digest(7)
		if again := digest(7); again != first {
			t.Errorf("the same seed gave the traces %s and %s", first, again)
		}
		if other := digest(8); other == first {
			t.Errorf("two seeds gave the trace %s", other)
		}
		if dense && (total.starts == 0 || total.shared == 0 || total.crashes < 40) {
			t.Errorf("%d of %d crashes were of starts, and %d of a write while others waited", total.starts, total.crashes, total.shared)
		}
	}
}

// TestSimulationFindsPlantedBugs simulates a server with each planted bug, until it is found.
func TestSimulationFindsPlantedBugs(t *testing.T) {
	sequential(t)
	const seeds = 40
	first := map[string]uint64{ // the seeds that find what the seed 1 does not
		"a code is redeemed twice": 3, "a replayed code revokes nothing": 3, "a reused refresh token leaves the family": 3,
		"revocations are forgotten early": 3, "a new password ends no session": 10,
	}
	quietLibraries(t)
	image := makeSimImage(t)
	for _, name := range slices.Sorted(maps.Keys(plantedBugs())) {
		found := ""
		for n := uint64(0); n < seeds && found == ""; n++ {
			seed := max(first[name], 1) + n
			bug := plantedBugs()[name]
			if r := simulate(t, image, simOptions{seed: seed, rounds: 40, bug: &bug}); r.failure != "" {
				found = fmt.Sprintf("seed %d, %s", seed, strings.SplitN(r.failure, "\n", 2)[0])
			}
		}
		if found == "" {
			t.Errorf("%s: not found in %d seeds", name, seeds)
		}
		t.Logf("%s: %s", name, cmp.Or(found, "not found"))
	}
}
