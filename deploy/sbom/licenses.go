package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// licensed is a component with the folder that contains its license.
type licensed struct {
	component
	folder string
}

// licenseFile matches the names of the files whose text a copy of the component must contain.
func licenseFile(name string) bool {
	return regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`).MatchString(name)
}

// writeLicenses writes the licenses of all components that the releases for the platforms contain. Each
// text stands once, after the components that it applies to. The modules come from the module cache,
// and the packages of npm from the folder of the lock file, where `npm ci` has installed them.
func writeLicenses(w io.Writer, platforms []string, lock string) error {
	components, err := linkedModules(platforms)
	if err != nil {
		return err
	}
	bundled, err := installedPackages(lock)
	if err != nil {
		return err
	}
	components = append(components, bundled...)
	slices.SortFunc(components, func(a, b licensed) int { return strings.Compare(a.Ref, b.Ref) })
	components = slices.CompactFunc(components, func(a, b licensed) bool { return a.Ref == b.Ref })
	var texts []string
	names := map[string][]string{}
	for _, c := range components {
		found, err := licenseTexts(c)
		if err != nil {
			return err
		}
		for _, text := range found {
			if names[text] == nil {
				texts = append(texts, text)
			}
			names[text] = append(names[text], strings.TrimSpace(c.Name+" "+c.Version))
		}
	}
	fmt.Fprintln(w, "Postern contains the following software, under the licenses below it.")
	for _, text := range texts {
		fmt.Fprintf(w, "\n%s\n%s\n\n%s\n", strings.Repeat("-", 78), strings.Join(names[text], "\n"), text)
	}
	return nil
}

// licenseTexts returns the texts of all license files of a component. A package of npm that has none,
// but states its license, gets that statement.
func licenseTexts(c licensed) ([]string, error) {
	entries, err := os.ReadDir(c.folder)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: run `go mod download`, and `npm ci` in the folder of the console", c.Name, err)
	}
	var texts []string
	for _, entry := range entries {
		if entry.IsDir() || !licenseFile(entry.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(c.folder, entry.Name()))
		if err != nil {
			return nil, err
		}
		texts = append(texts, plainText(text))
	}
	if len(texts) == 0 {
		text, err := statedLicense(c)
		return []string{text}, err
	}
	return texts, nil
}

// plainText returns a text with Unix line ends and without spaces at the ends of lines.
func plainText(text []byte) string {
	lines := strings.Split(strings.ReplaceAll(string(text), "\r\n", "\n"), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " \t\f")
	}
	return strings.Trim(strings.Join(lines, "\n"), "\n")
}

func statedLicense(c licensed) (string, error) {
	var stated struct{ License any }
	text, err := os.ReadFile(filepath.Join(c.folder, "package.json"))
	if err == nil {
		err = json.Unmarshal(text, &stated)
	}
	if err != nil || stated.License == nil {
		return "", fmt.Errorf("%s has neither a license file in %s nor a license in its package.json", c.Name, c.folder)
	}
	return fmt.Sprintf("License: %v (as its package.json states)", stated.License), nil
}

// linkedModules returns the modules of the program for all platforms (OS/ARCHITECTURE), and the
// standard library.
func linkedModules(platforms []string) ([]licensed, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	modules := []licensed{{library("golang", "std", ""), strings.TrimSpace(string(root))}}
	for _, platform := range platforms {
		system, architecture, _ := strings.Cut(platform, "/")
		list := exec.Command("go", "list", "-deps", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/postern")
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+architecture, "CGO_ENABLED=0", "GOFLAGS=")
		var problem bytes.Buffer
		list.Stderr = &problem
		out, err := list.Output()
		if err != nil {
			return nil, fmt.Errorf("go list for %s: %w: %s", platform, err, &problem)
		}
		for line := range strings.Lines(string(out)) {
			if fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t"); len(fields) == 3 {
				modules = append(modules, licensed{library("golang", fields[0], fields[1]), fields[2]})
			}
		}
	}
	return modules, nil
}

// installedPackages returns the packages of a lock file, without those that only the build needs.
func installedPackages(lock string) ([]licensed, error) {
	folders, err := npmPackages(lock)
	var packages []licensed
	for folder, c := range folders {
		packages = append(packages, licensed{c, filepath.Join(filepath.Dir(lock), filepath.FromSlash(folder))})
	}
	return packages, err
}
