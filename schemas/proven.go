package schemas

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// What a sign-in has proved
//
// The proofs of a sign-in decide everything that is claimed about it: its methods, its class and
// the time of a class. They can be of different ages, because a sign-in can continue an earlier
// session. The time of a class is that of the oldest proof without which the class would not hold:
// a password now does not renew the passkey of this morning.

// Proving returns the proof of a credential with what its use proved. The time is still to be set.
func (p Proof) Proving(methods []string, acr string) Proof {
	p.ACR, p.AMR = acr, strings.Join(methods, " ")
	return p
}

// Proves reports whether the use of the credential proved something. The sign-in only requires that
// the user has the other credentials.
func (p Proof) Proves() bool { return p.ACR != "" || p.AMR != "" }

// Methods returns the methods that the use of the credential proved.
func (p Proof) Methods() []string { return strings.Fields(p.AMR) }

// covers reports whether a proof makes another one of the same credential superfluous.
func (p Proof) covers(q Proof) bool {
	lacks := func(method string) bool { return !slices.Contains(p.Methods(), method) }
	return !p.At.Before(q.At) && (q.ACR == "" || Satisfies(p.ACR, q.ACR)) && !slices.ContainsFunc(q.Methods(), lacks)
}

// MergeProofs returns proofs with others added. Where a user has one credential of a kind, the
// added one has replaced the earlier one, which keeps what it proved and when.
func MergeProofs(proofs, added []Proof) []Proof {
	merged := slices.Clone(proofs)
	for _, p := range added {
		isOf := func(q Proof) bool { return q.IsOf(p) || q.Kind == p.Kind && p.Kind.single() }
		merged = slices.DeleteFunc(merged, func(q Proof) bool { return isOf(q) && p.covers(q) })
		known := false
		for i, q := range merged {
			if isOf(q) {
				merged[i].Of, known = p.Of, true
			}
		}
		if !known || p.Proves() {
			merged = append(merged, p)
		}
	}
	return merged
}

// ProvenMethods returns the methods (amr, RFC 8176) of a sign-in with the proofs.
func ProvenMethods(proofs []Proof) (methods []string) {
	add := func(m string) {
		if !slices.Contains(methods, m) {
			methods = append(methods, m)
		}
	}
	for _, p := range proofs {
		for _, m := range p.Methods() {
			add(m)
		}
	}
	if areTwoFactors(methods) {
		add(AMRMultiFactor)
	}
	return methods
}

// MethodsSince is ProvenMethods for the proofs that were given at a time or later. Who states a time with a
// weaker class than that of the sign-in states no older methods with it: they would seem as recent.
func MethodsSince(proofs []Proof, since time.Time) []string {
	return ProvenMethods(slices.DeleteFunc(slices.Clone(proofs), func(p Proof) bool { return p.At.Before(since) }))
}

// ProvenACR returns the class of a sign-in with the proofs: it combines their classes,
// and includes two factors if they prove something known and something held. It is "" without a
// proof, and the last class if all are unknown.
func ProvenACR(proofs []Proof) (acr string) {
	var classes []string
	for _, p := range proofs {
		classes, acr = append(classes, p.ACR), cmp.Or(p.ACR, acr)
	}
	if areTwoFactors(ProvenMethods(proofs)) {
		classes = append(classes, ACRMultiFactor)
	}
	return cmp.Or(CombineACRs(classes...), acr)
}

// areTwoFactors reports whether the methods include something known and something held.
func areTwoFactors(methods []string) bool {
	return containsAny(methods, KnownMethods()) && containsAny(methods, HeldMethods())
}

// ProvenSince returns the time of a class: that of the oldest proof without which the proofs would
// not satisfy it. Without the class, or for "", it is the time of the oldest proof.
func ProvenSince(proofs []Proof, acr string) (since time.Time) {
	newest := slices.DeleteFunc(slices.Clone(proofs), func(p Proof) bool { return !p.Proves() })
	slices.SortStableFunc(newest, func(p, q Proof) int { return q.At.Compare(p.At) })
	for i, p := range newest {
		if since = p.At; acr != "" && Satisfies(ProvenACR(newest[:i+1]), acr) {
			break
		}
	}
	return since
}

// Evidence returns the proofs of a session. The session itself is one of them: it proves all of the
// sign-in at its beginning, for proofs that have no time, because an earlier release stored them,
// or whose credential is gone.
func (s *Session) Evidence() []Proof {
	whole := Proof{Kind: SessionProof, Of: s.ID, At: s.CreatedAt}
	return append(slices.Clone(s.Proofs), whole.Proving(s.AMR, s.ACR))
}

// AuthTime returns when the user proved a class that the session satisfies: see ProvenSince.
func (s *Session) AuthTime(acr string) time.Time {
	if since := ProvenSince(s.Evidence(), acr); !since.IsZero() {
		return since
	}
	return s.CreatedAt // it proved nothing
}
