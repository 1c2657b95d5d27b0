package gate

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"maps"
	"path"
	"slices"
	"strconv"

	"github.com/postern-id/postern/internal/design"
	"github.com/postern-id/postern/internal/document"
	"github.com/postern-id/postern/internal/translations"
)

//go:embed web
var web embed.FS

const (
	shellFile = "index.html" // the file of every page
	htmlType  = "text/html; charset=utf-8"

	// callback is the page to which other providers redirect, with a code in the address.
	callback = "callback"

	// errorPage is the page of requests that cannot be answered at the client.
	errorPage = "error"

	// preview is the page that shows steps in a frame of the console.
	preview = "preview"
)

// pageNames lists the pages by the last part of their path.
func pageNames() []string {
	return []string{"signin", "signup", "recover", "invitation", "address", "consent", errorPage, "signout", "signedout", "account", "lock", callback, preview}
}

// coreModules are the modules of every page: the browser loads them at once, instead of one after
// another.
func coreModules() []string {
	return []string{"dom.js", "wire.js", "languages.js", "words.js", "theme.js", "passkey.js", "page.js", "step.js", "icons.js"}
}

// icons are the icons of the pages.
func icons() []string {
	return []string{"check", "chevron-down", "fingerprint-pattern", "id-card", "key-round", "link", "list-checks", "log-out", "mail", "monitor", "smartphone", "user"}
}

// page contains the differences between the pages, which all use one file.
type page struct {
	Name, Version, Account string
	Up                     string // relative path from the page to /gate/
	Modules                []string
}

func (g *gate) page(name string) page {
	return page{Name: name, Version: g.version, Account: g.AccountApplicationID, Modules: coreModules()}
}

// sources are the files of the pages by name: the scripts with texts and icons, the favicon, and everything
// under web/.
func sources(languages *translations.Catalog) map[string][]byte {
	files := languageModules(languages)
	files["icons.js"] = module("default", design.Shapes(icons()...))
	files["icon.svg"] = []byte(design.Favicon())
	entries, err := web.ReadDir("web")
	if err != nil {
		panic(err) // it is embedded
	}
	for _, entry := range entries {
		if files[entry.Name()], err = web.ReadFile("web/" + entry.Name()); err != nil {
			panic(err) // it was listed just now
		}
	}
	files["gate.css"] = append([]byte(design.Compatible()), files["gate.css"]...)
	return files
}

// prepareFiles prepares the sources, with a version that changes with any of them.
func prepareFiles(languages *translations.Catalog) (version string, files map[string]*document.Document) {
	texts := sources(languages)
	files = map[string]*document.Document{}
	sum := sha256.New()
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		sum.Write([]byte(name + "\x00" + strconv.Itoa(len(texts[name])) + "\x00"))
		sum.Write(texts[name])
		if name != shellFile {
			files[name] = document.New(mediaType(name), texts[name])
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:6]), files
}

// mediaType returns a fixed type: the system's MIME table may name one for .js that browsers
// reject.
func mediaType(name string) string {
	switch path.Ext(name) {
	case ".js":
		return "text/javascript; charset=utf-8"
	case ".css":
		return "text/css; charset=utf-8"
	case ".svg":
		return "image/svg+xml"
	}
	panic("gate: " + name + " is of no type that is served")
}
