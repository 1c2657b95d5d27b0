package server_test

import (
	"log/slog"
	"os"
	"testing"
)

// op logs by the default logger and no other, as if it were the program (see
// main): in tests it would tell of every bad request that they make.
func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	os.Exit(m.Run())
}
