//go:build race

package declare_test

// scale divides how much a test does that takes long under the race detector.
const scale = 10
