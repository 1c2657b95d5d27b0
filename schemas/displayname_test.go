package schemas

import "testing"

func TestCheckDisplayName(t *testing.T) {
	for name, good := range map[string]bool{
		"Console": true, "Service desk (2)": true, "Яндекс Maps": true, "東京 Console": true, "ที่ Gräte": true, "C++ & more": true, "1\ufe0f\u20e3 ☎\ufe0f": true,
		"Gra\u0308te": true, "L'été à Köln": true, "α-Tester": true,
		"": false, "  ": false, " Console": false, "Console ": false, "Console\u00a0": false, "Console\n": false, "Con\tsole": false, "\u3000A": false,
		"Соnsole": false, "Соnsоle": false, "Consοle": false, "Cоnsole desk": false, "Ꮯonsole": false,
		"Con\u00adsole": false, "Con\u200bsole": false, "A\u202eB": false, "Console\u034f": false, "\u3164": false, "\u2800": false, "\ue000": false,
		"B\ufe0fank": false, "Bank\ufe0f": false, "B\u0489\u0489\u0489\u0489\u0489": false, "a\xff": false,
	} {
		if wrong := CheckDisplayName(name); (wrong == "") != good {
			t.Errorf("%q: %q, expected it to be good: %v", name, wrong, good)
		}
	}
}

func TestNameSkeleton(t *testing.T) {
	for _, same := range [][]string{
		{"Console", "console", "CONSOLE", "C0nsole", "Conso1e", "ConsoIe", "Consolé", "Con sole", "Console.", "Соnsоlе", "Ｃonsole", "Cоnsоle", "сonsole", "ᴄonsole", "Conso|e"},
		{"Postern admin", "Postem admin", "POSTERN ADMIN", "Роstеrn Аdmіn"},
		{"Wiki", "VViki", "WlKl"},
		{"Сахе", "caxe"},
	} {
		for _, name := range same[1:] {
			if a, b := NameSkeleton(same[0]), NameSkeleton(name); a != b {
				t.Errorf("%q is %q, and %q is %q", same[0], a, name, b)
			}
		}
	}
	for _, other := range []string{"Consoles", "Console 2", "Consort", "The console", "Konsole", "東京", ""} {
		if NameSkeleton(other) == NameSkeleton("Console") {
			t.Errorf("%q is taken for Console", other)
		}
	}
}

// The letters that stand for others stand for themselves, and no letter stands for two.
func TestLookalikesAreSettled(t *testing.T) {
	seen := map[rune]rune{}
	for letter, list := range lookalikes() {
		for _, c := range list {
			if other := seen[c]; other != 0 {
				t.Errorf("%q stands for %q and for %q", c, other, letter)
			}
			if seen[c] = letter; c == letter {
				t.Errorf("%q stands for itself", c)
			}
		}
	}
	for letter := range lookalikes() {
		if got := NameSkeleton(string(letter)); got != string(letter) {
			t.Errorf("%q becomes %q", letter, got)
		}
	}
}

func FuzzNameSkeleton(f *testing.F) {
	for _, name := range []string{"Console", "Соnsole", "rrn vvv", "ﬃ Ⅷ", "\xff"} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if again := NameSkeleton(name + " "); again != NameSkeleton(name) {
			t.Errorf("%q: a space changes the skeleton to %q", name, again)
		}
		CheckDisplayName(name)
	})
}
