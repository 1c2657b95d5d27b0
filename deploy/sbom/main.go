// Command sbom writes the software bill of materials of a release, as CycloneDX 1.6 in JSON. It lists
// the Go modules that are linked into binaries, and the npm packages that the files of the console
// contain.
//
// The modules come from the binaries themselves and not from go.mod, which also lists what only tests
// and tools need.
//
// With -licenses it writes the licenses of that software instead, for the platforms of the arguments.
package main

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
)

func main() {
	name := flag.String("name", "postern", "the name of the product")
	version := flag.String("version", "", "the version of the release")
	lock := flag.String("npm-lock", "", "the package-lock.json of the console")
	licenses := flag.Bool("licenses", false, "write the licenses of what a release contains; the arguments are platforms such as linux/amd64")
	flag.Parse()
	write := func() error { return run(os.Stdout, *name, *version, *lock, flag.Args()) }
	if *licenses {
		write = func() error { return writeLicenses(os.Stdout, flag.Args(), *lock) }
	}
	if err := write(); err != nil {
		fmt.Fprintln(os.Stderr, "sbom:", err)
		os.Exit(1)
	}
}

// document is a bill of materials. It has no time and no serial number: equal releases have equal
// documents.
type document struct {
	Format      string      `json:"bomFormat"`
	SpecVersion string      `json:"specVersion"`
	Version     int         `json:"version"`
	Metadata    metadata    `json:"metadata"`
	Components  []component `json:"components"`
}

type metadata struct {
	Component component `json:"component"`
}

type component struct {
	Type    string `json:"type"` // application or library
	Ref     string `json:"bom-ref"`
	Name    string `json:"name"`
	Version string `json:"version"`
	PURL    string `json:"purl,omitempty"`
}

// run writes the bill of materials of the binaries.
func run(w io.Writer, name, version, lock string, binaries []string) error {
	if version == "" || len(binaries) == 0 {
		return errors.New("expected -version VERSION and the binaries of the release")
	}
	var components []component
	for _, path := range binaries {
		linked, err := goModules(path)
		if err != nil {
			return err
		}
		components = append(components, linked...)
	}
	if lock != "" {
		bundled, err := npmPackages(lock)
		if err != nil {
			return err
		}
		components = slices.AppendSeq(components, maps.Values(bundled))
	}
	slices.SortFunc(components, func(a, b component) int { return strings.Compare(a.Ref, b.Ref) })
	encoder := json.NewEncoder(w)
	encoder.SetIndent("", "  ")
	return encoder.Encode(document{
		Format: "CycloneDX", SpecVersion: "1.6", Version: 1,
		Metadata:   metadata{component{Type: "application", Ref: name, Name: name, Version: version}},
		Components: slices.Compact(components),
	})
}

// goModules returns the modules that a binary is linked from, and the standard library.
func goModules(path string) ([]component, error) {
	info, err := buildinfo.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("%s: expected a binary that Go has built: %w", path, err)
	}
	components := []component{library("golang", "std", strings.TrimPrefix(info.GoVersion, "go"))}
	for _, module := range info.Deps {
		if module.Replace != nil {
			module = module.Replace
		}
		components = append(components, library("golang", module.Path, module.Version))
	}
	return components, nil
}

// npmPackages returns the packages of a lock file by their folders, without those that only the build
// needs.
func npmPackages(path string) (map[string]component, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct {
			Version string `json:"version"`
			Dev     bool   `json:"dev"`
		} `json:"packages"`
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	components := map[string]component{}
	for folder, p := range lock.Packages {
		const installed = "node_modules/"
		if at := strings.LastIndex(folder, installed); at >= 0 && !p.Dev {
			components[folder] = library("npm", folder[at+len(installed):], p.Version)
		}
	}
	if len(components) == 0 {
		return nil, fmt.Errorf("%s: expected the lock file of npm 7 or newer, with packages", path)
	}
	return components, nil
}

// library returns a component with its package URL (ECMA-427). A scope such as @codemirror has its @
// escaped.
func library(kind, name, version string) component {
	purl := "pkg:" + kind + "/" + strings.Replace(name, "@", "%40", 1) + "@" + version
	return component{Type: "library", Ref: purl, Name: name, Version: version, PURL: purl}
}
