package password

import (
	"strconv"
	"testing"
	"time"
)

// TestEqualizer verifies how long wrong passwords take after verifications of different times.
func TestEqualizer(t *testing.T) {
	type verification struct {
		after time.Duration // since the previous one
		cost  string
		took  time.Duration
	}
	const ms = time.Millisecond
	for name, test := range map[string]struct {
		did   []verification
		after time.Duration
		want  time.Duration
	}{
		"none":                               {nil, 0, 0},
		"no imported hash":                   {[]verification{{0, "", 30 * ms}}, 0, 0},
		"an imported hash":                   {[]verification{{0, "a", 300 * ms}}, 0, 300 * ms},
		"it is not forgotten":                {[]verification{{0, "a", 300 * ms}}, 1000 * time.Hour, 300 * ms},
		"the most expensive of several":      {[]verification{{0, "a", 300 * ms}, {0, "b", 200 * ms}, {0, "a", 290 * ms}}, 1000 * time.Hour, 290 * ms},
		"a busy machine":                     {[]verification{{0, "a", 300 * ms}, {0, "a", 900 * ms}, {0, "", 30 * ms}}, 0, 900 * ms},
		"it was busy lately":                 {[]verification{{0, "a", 300 * ms}, {0, "a", 900 * ms}}, equalizePeriod, 900 * ms},
		"it was busy, and verifies":          {[]verification{{0, "a", 300 * ms}, {0, "a", 900 * ms}, {equalizePeriod, "a", 310 * ms}}, equalizePeriod, 310 * ms},
		"it was busy long ago":               {[]verification{{0, "a", 300 * ms}, {0, "a", 900 * ms}}, 2 * equalizePeriod, 300 * ms},
		"it was busy at the first":           {[]verification{{0, "a", 900 * ms}, {0, "a", 300 * ms}}, 2 * equalizePeriod, 300 * ms},
		"it was busy with a hash of its own": {[]verification{{0, "a", 300 * ms}, {0, "", 900 * ms}}, 0, 900 * ms},
		"a hash above a second":              {[]verification{{0, "a", 2500 * ms}}, 1000 * time.Hour, 2500 * ms},
		"a stopped machine":                  {[]verification{{0, "a", time.Hour}}, 0, maxEqualized},
	} {
		now := time.Date(2026, 5, 17, 12, 0, 0, 0, time.UTC)
		var e equalizer
		for _, v := range test.did {
			now = now.Add(v.after)
			e.add(now, v.cost, v.took)
		}
		if got := e.longest(now.Add(test.after)); got != test.want {
			t.Errorf("%s: %v, want %v", name, got, test.want)
		}
	}
}

func TestEqualizerIsBounded(t *testing.T) {
	var e equalizer
	for i := range 2 * maxCosts {
		e.add(time.Now(), strconv.Itoa(i), time.Second)
	}
	if len(e.least) != maxCosts {
		t.Errorf("keeps %d costs, want %d", len(e.least), maxCosts)
	}
}

// TestCosts verifies that hashes of equal cost share their times, and others do not.
func TestCosts(t *testing.T) {
	all := map[string]bool{}
	for _, h := range []Imported{
		NewPBKDF2("sha256", 1000, []byte("one"), make([]byte, 32)), NewPBKDF2("sha256", 1000, []byte("two"), make([]byte, 32)),
		NewPBKDF2("sha256", 2000, []byte("one"), make([]byte, 32)), NewPBKDF2("sha1", 1000, []byte("one"), make([]byte, 20)),
		{Scheme: Bcrypt, Text: "$2b$10$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"},
		{Scheme: Bcrypt, Text: "$2b$12$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"},
	} {
		all[h.cost()] = true
	}
	if len(all) != 5 {
		t.Errorf("the costs %v, want 5", all)
	}
}
