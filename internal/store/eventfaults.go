package store

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/postern-id/postern/schemas"
)

// ChainFault is a position at which an audit log differs from what was recorded.
type ChainFault struct {
	Kind    string
	Seq     int64            // of the seal; 0 for an event without one
	Event   schemas.EventKey // zero if it is unknown
	Problem string
}

// The kinds of faults. They are stored in anchors.
const (
	faultGap      = "gap"      // seals before it are missing
	faultMissing  = "missing"  // its event is missing
	faultAltered  = "altered"  // its event was altered
	faultSeal     = "seal"     // the seal was altered, or has no code of the key
	faultRecord   = "record"   // its event reports a removal or an anchor that no server has recorded
	faultRepeated = "repeated" // its event was sealed before
	faultExpected = "expected" // the chain up to it differs from the expected one
	faultAny      = "any"      // one of these

	faultEnd   = "end"   // the end of the chain differs from the last seal
	faultLost  = "lost"  // an event was removed before it was sealed
	faultAdded = "added" // an event has no seal
)

// maxFaultRanges bounds the size of an anchor. If there are more faults, it acknowledges those of all seals.
const maxFaultRanges = 50

// faultRange is the faults of a kind at consecutive seals.
type faultRange struct {
	kind     string
	from, to int64
}

// faultRanges are faults that an anchor acknowledges.
type faultRanges []faultRange

// has reports whether a fault is acknowledged.
func (r faultRanges) has(kind string, seq int64) bool {
	return slices.ContainsFunc(r, func(f faultRange) bool {
		return (f.kind == kind || f.kind == faultAny) && f.from <= seq && seq <= f.to
	})
}

// with adds faults. Those without a seal, and those of the end, do not exist after a repair.
func (r faultRanges) with(faults []ChainFault) faultRanges {
	all := slices.Clone(r)
	for _, f := range faults {
		if f.Seq > 0 && !slices.Contains([]string{faultEnd, faultExpected}, f.Kind) {
			all = append(all, faultRange{f.Kind, f.Seq, f.Seq})
		}
	}
	slices.SortFunc(all, func(a, b faultRange) int { return cmp.Or(cmp.Compare(a.kind, b.kind), cmp.Compare(a.from, b.from)) })
	var merged faultRanges
	last := int64(0)
	for _, f := range all {
		last = max(last, f.to)
		if n := len(merged); n > 0 && merged[n-1].kind == f.kind && f.from <= merged[n-1].to+1 {
			merged[n-1].to = max(merged[n-1].to, f.to)
		} else {
			merged = append(merged, f)
		}
	}
	if len(merged) > maxFaultRanges {
		return faultRanges{{faultAny, 1, last}}
	}
	return merged
}

// String returns the ranges as KIND:FROM-TO, separated by spaces.
func (r faultRanges) String() string {
	var parts []string
	for _, f := range r {
		parts = append(parts, fmt.Sprintf("%s:%d-%d", f.kind, f.from, f.to))
	}
	return strings.Join(parts, " ")
}

// parseFaultRanges is the inverse of String.
func parseFaultRanges(text string) (r faultRanges) {
	for _, part := range strings.Fields(text) {
		kind, numbers, _ := strings.Cut(part, ":")
		from, to, _ := strings.Cut(numbers, "-")
		f := faultRange{kind: kind}
		f.from, _ = strconv.ParseInt(from, 10, 64)
		f.to, _ = strconv.ParseInt(to, 10, 64)
		r = append(r, f)
	}
	return r
}
