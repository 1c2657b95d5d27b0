package e2e_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/postern-id/postern/internal/datatest"
)

// emptyData is the data folder of a server with an empty store, by path. Migrations and keys take
// longer than the rest of a start, so they are created once. See copyData.
var emptyData struct {
	once  sync.Once
	files map[string][]byte
}

// copyData writes the data of an empty store into the folder of a server that has not started yet.
func (p *postern) copyData() {
	p.t.Helper()
	emptyData.once.Do(func() {
		empty := *p
		empty.dir = p.t.TempDir()
		empty.args = []string{"serve"}
		empty.env = append(append([]string(nil), p.env...), "SKIP_SECURITY=true", "POSTERN_DATA_DIR="+empty.dir) // unseeded
		empty.start()
		if code := empty.terminate(); code != 0 {
			p.t.Fatalf("exit code %d: %s", code, empty.log)
		}
		emptyData.files = readFiles(p, empty.dir)
	})
	for name, text := range emptyData.files {
		datatest.WriteFile(p.t, filepath.Join(p.dir, "data", name), text)
	}
}

// readFiles reads all files in a folder.
func readFiles(p *postern, dir string) map[string][]byte {
	p.t.Helper()
	files := map[string][]byte{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files[name], err = os.ReadFile(filepath.Join(dir, name))
		}
		return err
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return files
}
