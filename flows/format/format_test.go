package format

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/postern-id/postern/internal/datatest"
)

func TestFormat(t *testing.T) {
	for name, tt := range map[string]struct{ text, want string }{
		"the order of members": {"name: A\n# of the handle\nhandle: a\nnodes:\n- next: b\n  id: a # here\n  use: x\n", "# of the handle\nhandle: a\nname: A\nnodes:\n  - id: a # here\n    use: x\n    next: b\n"},
		"the top":              {"# What it is.\n\nname: A\nhandle: a\nnodes: [{use: x, id: a}]\n", "# What it is.\n\nhandle: a\nname: A\nnodes:\n  - {use: x, id: a}\n"},
		"quotes":               {"a: \"x y\"\nb: 'it''s'\nc: \"yes\"\nd: \"12\"\ne: 'a\"b'\nf: [\"a, b\", \"u:x\", \"\"]\ng: \"a: b\"\nh: \"a\\tb\"\n", "a: x y\nb: it's\nc: \"yes\"\nd: \"12\"\ne: 'a\"b'\nf: [\"a, b\", \"u:x\", \"\"]\ng: \"a: b\"\nh: \"a\\tb\"\n"},
		"brackets":             {"a: { b : [1,2] ,c: {} }\nd: [ x,\n  y, # why\n  {z: 1}]\n", "a: {b: [1, 2], c: {}}\nd:\n  - x\n  - y # why\n  - {z: 1}\n"},
		"blank lines":          {"\n\na: 1\n\n\n\nb: 2\n\n\n", "a: 1\n\nb: 2\n"},
		"comments":             {"a:\n    # before b\n    b: 1   # at b\n    # after b\n\n# before c\nc:\n- x\n# at the end\n", "a:\n  # before b\n  b: 1 # at b\n  # after b\n\n# before c\nc:\n  - x\n# at the end\n"},
		"several comments":     {"a: # one\n  b # two\n", "# one\na: b # two\n"},
		"block scalars":        {"a: |  # note\n     one\n       two\n\n\n     three\nb: >-\n x\n\nc: |+\n  y\n\n", "a: | # note\n  one\n    two\n\n\n  three\nb: >-\n  x\n\nc: |+\n  y\n\n"},
		"several lines":        {"a: one\n      two\n\n      three\nb: \"x\n y\"\n", "a: one\n  two\n\n  three\nb: \"x\n  y\"\n"},
		"lists of lists":       {"a:\n- - x\n  - y\n-\n  # c\n  z: 1\n", "a:\n  - - x\n    - y\n  # c\n  - z: 1\n"},
		"carriage returns":     {"a: 1\r# b\rb: [x,\r y]\r", "a: 1\n# b\nb:\n  - x\n  - y\n"},
		"line breaks":          {"a: 1\r\n\r\nb: [x,\r\n y]\r\n", "a: 1\n\nb:\n  - x\n  - y\n"},
	} {
		got, err := Format([]byte(tt.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if string(got) != tt.want {
			t.Errorf("%s:\n%q\nwant\n%q", name, got, tt.want)
		}
		checkAgain(t, got)
	}
}

// checkAgain formats a formatted text.
func checkAgain(t *testing.T, text []byte) {
	t.Helper()
	again, err := Format(text)
	if err != nil || string(again) != string(text) {
		t.Errorf("the second time it is\n%s, %v\nthe first time\n%s", again, err, text)
	}
}

func TestFormatErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                "empty",
		"a: [":            "1:",
		"a: &x 1":         "anchors",
		"just text":       "expected an object",
		"a: 1\na: 2\n":    "2:1",
		"a: 1\n---\nb: 2": "one document",
		"# x\u2028\na: 1": "line 1 contains the character U+2028",
		"# x\u2029\na: 1": "line 1 contains the character U+2029",
		"a: x\u0085b: 1":  "line 1 contains the character U+0085",
	} {
		if got, err := Format([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
}

// The flows of the repository are formatted. `postern flow fmt -w` formats them.
func TestRepositoryIsFormatted(t *testing.T) {
	for _, pattern := range []string{"../*.yaml", "../recipes/*.yaml", "../testdata/good/*.yaml", "../testdata/scenarios/*.yaml", "../rules/examples/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatal(pattern, err)
		}
		for _, file := range files {
			text := datatest.ReadFile(t, file)
			if got, err := Format(text); err != nil {
				t.Errorf("%s: %v", file, err)
			} else if string(got) != string(text) {
				t.Errorf("%s is not formatted: run postern flow fmt -w %[1]s", file)
			}
		}
	}
}

func FuzzFormat(f *testing.F) {
	text := datatest.ReadFile(f, "../invitation.yaml")
	f.Add(text)
	f.Add([]byte("a: [x, # y\n z]\n#\n- \n"))
	f.Add([]byte("a: |2-\n   x\n\n  y # no\nb: 'q\n\n r' # c\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if got, err := Format(text); err == nil {
			checkAgain(t, got)
		}
	})
}
