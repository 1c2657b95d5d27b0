package chains

import (
	"github.com/postern-id/postern/schemas"
)

// proof is what a sign-in has proved, as far as classes depend on it. The zero value proves
// nothing. Proofs form a lattice: join is the weakest proof that is at least as strong as both.
type proof struct {
	strength   int8 // 0: nothing; 1 + the strength of the class
	resistance int8 // to phishing: 0, 1 (phr), 2 (phrh)
	knows      bool // by something the user knows
	holds      bool // by something the user holds
}

// The strengths of classes, from schemas.ACRs.
const (
	vouched int8 = iota + 1
	recovery
	oneTimeCode
	password
	multiFactor
)

// join combines two proofs of one sign-in. Something known and something held are two factors
// (NIST SP 800-63B section 2.2).
func (p proof) join(q proof) proof {
	j := proof{max(p.strength, q.strength), max(p.resistance, q.resistance), p.knows || q.knows, p.holds || q.holds}
	if j.knows && j.holds {
		j.strength = multiFactor
	}
	return j
}

// limit is what a credential with the nominal proof p is worth if a sign-in with the proof q
// added it: what both prove. Two factors include each sort of factor.
func (p proof) limit(q proof) proof {
	two := q.strength == multiFactor
	return proof{
		strength: min(p.strength, q.strength), resistance: min(p.resistance, q.resistance),
		knows: p.knows && (q.knows || two), holds: p.holds && (q.holds || two),
	}
}

// satisfies reports whether p has at least the class of q.
func (p proof) satisfies(q proof) bool {
	return p.strength >= q.strength && p.resistance >= q.resistance
}

// covers reports whether p is at least as strong as q in every respect.
func (p proof) covers(q proof) bool {
	return p.satisfies(q) && (p.knows || !q.knows) && (p.holds || !q.holds)
}

// class returns the class of a sign-in with the proof, "" for none.
func (p proof) class() string {
	if p.strength == 0 {
		return ""
	}
	strengths := [...]string{
		schemas.ACRVouched, schemas.ACRRecovery, schemas.ACROneTimeCode, schemas.ACRPassword, schemas.ACRMultiFactor,
	}
	classes := []string{strengths[p.strength-1]}
	switch p.resistance {
	case 1:
		classes = append(classes, schemas.ACRPhishingResistant)
	case 2:
		classes = append(classes, schemas.ACRPhishingResistantProtected)
	}
	return schemas.CombineACRs(classes...)
}

// proofOf returns the weakest proof of a class.
func proofOf(class string) proof {
	var p proof
	for i, known := range []string{
		schemas.ACRVouched, schemas.ACRRecovery, schemas.ACROneTimeCode, schemas.ACRPassword, schemas.ACRMultiFactor,
	} {
		if schemas.Satisfies(class, known) {
			p.strength = int8(i) + 1
		}
	}
	switch {
	case schemas.Satisfies(class, schemas.ACRPhishingResistantProtected):
		p.resistance = 2
	case schemas.Satisfies(class, schemas.ACRPhishingResistant):
		p.resistance = 1
	}
	return p
}
