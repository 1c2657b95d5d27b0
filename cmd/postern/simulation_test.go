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
		o := simOptions{seed: seed, rounds: *simRounds}
		if bug, planted := plantedBugs()[*simBug]; planted {
			o.bug = &bug
		}
		r := simulate(t, image, o)
		total.crashes, total.requests, total.elapsed = total.crashes+r.crashes, total.requests+r.requests, total.elapsed+r.elapsed
		if r.failure != "" {
			reportFailure(t, image, o, r)
		}
	}
	const year = 365 * 24 * time.Hour
	t.Logf("%d seeds in %s: %.2f simulated years, %d crashes, %d requests", *simSeeds, time.Since(began).Round(time.Second),
		float64(total.elapsed)/float64(year), total.crashes, total.requests)
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

// TestSimulationIsDeterministic runs a seed twice, and another one.
func TestSimulationIsDeterministic(t *testing.T) {
	sequential(t)
	quietLibraries(t)
	image := makeSimImage(t)
	digest := func(seed uint64) string { return simulate(t, image, simOptions{seed: seed, rounds: 30}).digest }
	first := digest(7)
	if again := digest(7); again != first {
		t.Errorf("the same seed gave the traces %s and %s", first, again)
	}
	if other := digest(8); other == first {
		t.Errorf("two seeds gave the trace %s", other)
	}
}

// TestSimulationFindsPlantedBugs simulates a server with each planted bug, until it is found.
func TestSimulationFindsPlantedBugs(t *testing.T) {
	sequential(t)
	const seeds = 40
	quietLibraries(t)
	image := makeSimImage(t)
	for _, name := range slices.Sorted(maps.Keys(plantedBugs())) {
		found := ""
		for seed := uint64(1); seed <= seeds && found == ""; seed++ {
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
