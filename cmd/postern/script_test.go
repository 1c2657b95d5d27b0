package main

import (
	"context"
	"os"
	"os/signal"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/postern-id/postern/internal/porttest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"postern": func() {
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			code := program{args: os.Args[1:], environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}.run(ctx)
			stop()
			os.Exit(code)
		},
	})
}

// The command line, as scripts. $PORT is a free port.
func TestScripts(t *testing.T) {
	sequential(t)
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(env *testscript.Env) error {
		port, err := porttest.Free()
		env.Setenv("POSTERN_PASSWORD_MEMORY_KIB", "1024") // many commands sign in
		env.Setenv("POSTERN_PASSWORD_ITERATIONS", "1")
		env.Setenv("PORT", strconv.Itoa(port))
		return err
	}})
}
