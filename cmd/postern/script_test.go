package main

import (
	"context"
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"postern": func() {
			os.Exit(program{args: os.Args[1:], environ: os.Environ(), stdout: os.Stdout, stderr: os.Stderr}.run(context.Background()))
		},
	})
}

// The command line, as scripts.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script"})
}
