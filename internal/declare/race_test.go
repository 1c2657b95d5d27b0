//go:build race

package declare_test

// scale divides the amount of slow work under the race detector.
const scale = 10
