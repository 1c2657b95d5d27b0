package main

import (
	"slices"
	"testing"
)

func TestUnmodifiedMappings(t *testing.T) {
	const smaps = `00400000-01732000 r-xp 00000000 00:30 12345      /opt/postern
Rss:               17672 kB
Anonymous:             0 kB
01732000-0386f000 r--p 01332000 00:30 12345      /opt/postern
Anonymous:             4 kB
0386f000-0393b000 rw-p 0346f000 00:30 12345      /opt/postern
Anonymous:             0 kB
0393b000-0393c000 r--p 00000000 00:30 12346      /opt/other
Anonymous:             0 kB
0393c000-0393d000 r--p 00000000 00:00 0
Anonymous:             0 kB
01000000-01001000 r--p 00000000 00:30 12345      /opt/postern
VmFlags: rd mr mw me
Anonymous:             0 kB
`
	want := []mapping{{0x400000, 0x1732000}, {0x1000000, 0x1001000}}
	if got := unmodifiedMappings([]byte(smaps), "/opt/postern"); !slices.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}
