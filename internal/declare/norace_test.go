//go:build !race

package declare_test

const scale = 1
