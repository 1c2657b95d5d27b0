package main

import (
	"context"
	"net"
	"os"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"postern": func() {
			os.Exit(program{args: os.Args[1:], environ: os.Environ(), stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}.run(context.Background()))
		},
	})
}

// The command line, as scripts. $PORT is one that was free a moment ago.
func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", Setup: func(env *testscript.Env) error {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		env.Setenv("PORT", strconv.Itoa(l.Addr().(*net.TCPAddr).Port))
		return l.Close()
	}})
}
