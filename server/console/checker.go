package console

import (
	"cmp"
	"embed"
	"errors"
	"io/fs"
	"net/http"
	"os"
	"strings"
	"sync/atomic"

	"github.com/postern-id/postern/internal/document"
)

// built contains the flow checker for the browser, if it was built: checker.wasm.gz and the
// wasm_exec.js of the Go release. `make build` builds it. Without it the console asks the server.
//
//go:embed all:wasm/built
var built embed.FS

//go:embed wasm/worker.js
var workerScript []byte

const (
	// checkerFolder is the folder of the checker's files. It contains a folder that is named by
	// their contents.
	checkerFolder = "checker/"
	wasmFile      = "checker.wasm"
	workerFile    = "worker.js"
)

// workerPolicy is the Content-Security-Policy of the worker. Only the worker can compile
// WebAssembly, and it can load nothing but that.
const workerPolicy = "default-src 'none'; script-src 'wasm-unsafe-eval'; connect-src 'self'; frame-ancestors 'none'"

// checker serves the flow checker. It is empty if that was not built.
type checker struct {
	isPending bool // it is being built
	folder    string
	files     map[string]*document.Document
}

// builtChecker returns the checker of this program.
func builtChecker() *checker {
	var c checker
	files, err := fs.Sub(built, "wasm/built")
	if err := cmp.Or(err, c.read(files)); err != nil {
		panic(err) // the files are embedded, and a test reads them
	}
	return &c
}

// laterChecker returns a function that returns the checker in a folder as soon as the folder exists, and
// until then one that is being built.
func laterChecker(dir string) func() *checker {
	var complete atomic.Pointer[checker]
	return func() *checker {
		if c := complete.Load(); c != nil {
			return c
		}
		var c checker
		if err := c.read(os.DirFS(dir)); err != nil || c.folder == "" {
			return &checker{isPending: true}
		}
		complete.CompareAndSwap(nil, &c)
		return complete.Load()
	}
}

// read reads the files of the checker, if there are any.
func (c *checker) read(built fs.FS) error {
	packed, err := fs.ReadFile(built, wasmFile+".gz")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	start, err := fs.ReadFile(built, "wasm_exec.js")
	if err != nil {
		return err
	}
	program, err := document.NewPacked("application/wasm", packed)
	if err != nil {
		return err
	}
	worker := document.New("text/javascript; charset=utf-8", append(append(start, '\n'), workerScript...))
	c.folder = checkerFolder + program.Tag() + worker.Tag() + "/"
	c.files = map[string]*document.Document{wasmFile: program, workerFile: worker}
	return nil
}

// pendingAddress is the address of a checker that is being built.
const pendingAddress = "pending"

// address returns the address of the worker's script, relative to the console; "" if there is none.
func (c *checker) address() string {
	switch {
	case c.isPending:
		return pendingAddress
	case c.folder == "":
		return ""
	}
	return c.folder + workerFile
}

// serve answers with the file at a path below the console.
func (c *checker) serve(w http.ResponseWriter, r *http.Request, path string) {
	name, current := strings.CutPrefix(path, c.folder)
	file := c.files[name] // none of a checker that is being built
	if !current || file == nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Security-Policy", workerPolicy)
	file.Serve(w, r, forever)
}
