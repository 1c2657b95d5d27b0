package schemas

import (
	"slices"
	"time"
)

// Additions
//
// A password is often changed because others know it. What they have added to the account with it would
// keep working. So replacing or removing a password marks what it alone has added, directly or through
// other additions, and limits what opens the account without a password: see Provenance.Former. The user
// keeps or removes what is marked, with a sign-in that is stronger than a password.

// Addition is something that was added to an account and with which the account can be used or
// recovered: a credential other than the password, or the mail address.
type Addition struct {
	// Type is one of the types below, and ID identifies the addition among those of its user.
	Type      string    `json:"type"`
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"createdAt"`
	// Proof is the proof of its use. Recovery codes are proved by any code of the set, so Of is "".
	Proof   Proof      `json:"-"`
	AddedBy Provenance `json:"-"`
}

// The types of additions. A user has at most one of a type without an id of its own: its ID is the type.
const (
	PasskeyAddition  = "passkey"
	IdentityAddition = "identity"
	AppAddition      = "totp"
	CodesAddition    = "recovery-codes"
	EmailAddition    = "email"
)

// Addition returns the passkey as an addition to its account.
func (c *Credential) Addition() Addition {
	return Addition{Type: PasskeyAddition, ID: c.ID.String(), Name: c.Name, CreatedAt: c.CreatedAt, Proof: Proof{Kind: PasskeyProof, Of: c.ID.String()}, AddedBy: c.AddedBy}
}

// Addition returns the identity at a provider with the name as an addition to its account.
func (i *Identity) Addition(provider string) Addition {
	name := provider
	if i.Name != "" {
		name += ": " + i.Name
	}
	return Addition{Type: IdentityAddition, ID: i.ID, Name: name, CreatedAt: i.CreatedAt, Proof: Proof{Kind: IdentityProof, Of: i.ID}, AddedBy: i.AddedBy}
}

// Addition returns the app as an addition to its account.
func (t *TOTP) Addition() Addition {
	return Addition{Type: AppAddition, ID: AppAddition, CreatedAt: t.CreatedAt, Proof: ProofOfTOTP(t), AddedBy: t.AddedBy}
}

// Addition returns the codes as an addition to their account.
func (c *RecoveryCodes) Addition() Addition {
	return Addition{Type: CodesAddition, ID: CodesAddition, CreatedAt: c.CreatedAt, Proof: Proof{Kind: RecoveryProof}, AddedBy: c.AddedBy}
}

// KeepAddition replaces the provenance of an addition by that of the sign-in with which its user has kept
// it: as if it were removed and added again. An addition that the user does not have is addition_not_found,
// Class NotFound.
type KeepAddition struct {
	UserID  string
	ID      string
	AddedBy Provenance
}

func (c KeepAddition) change() lock { return writes(c.UserID) }

// CodeAdditionNotFound is the error code of an addition that the user does not have, or that is not
// marked. Its class is NotFound.
const CodeAdditionNotFound = "addition_not_found"

// AddedWithFormer returns the additions that were added with former passwords alone, directly or through
// one another: those that are marked, and what these and the replaced password have added. The zero value
// is for no replaced password. Additions that the user has just confirmed by using them are not included,
// unless they are marked already.
func AddedWithFormer(all []Addition, replaced Proof, confirmed []Proof) (former []Addition) {
	var roots []Proof
	if replaced.Kind != "" {
		roots = append(roots, replaced)
	}
	found := map[string]bool{}
	add := func(a Addition) {
		former, roots, found[a.ID] = append(former, a), append(roots, a.Proof), true
	}
	for _, a := range all {
		if a.AddedBy.IsFormer() {
			add(a)
		}
	}
	for before := -1; before < len(former); {
		before = len(former)
		for _, a := range all {
			if !found[a.ID] && a.AddedBy.RestsOn(roots...) && !slices.ContainsFunc(confirmed, a.IsProvedBy) {
				add(a)
			}
		}
	}
	return former
}

// IsProvedBy reports whether a proof is of the addition.
func (a Addition) IsProvedBy(p Proof) bool { return a.Proof.covered(p) }

// covered reports whether a proof is of the credential, whose Of is "" if any of its kind is.
func (p Proof) covered(q Proof) bool { return p.Kind == q.Kind && (p.Of == "" || p.Of == q.Of) }

// Ref returns the resource of events about the addition of a user.
func (a Addition) Ref(userID string) ResourceRef {
	switch a.Type {
	case PasskeyAddition, IdentityAddition:
		return ResourceRef{Type: a.Type, ID: a.ID}
	case EmailAddition:
		return ResourceRef{Type: "user", ID: userID}
	}
	return ResourceRef{Type: "factor", ID: a.ID}
}

// OpensAccount reports whether the addition opens the account without a password.
func (a Addition) OpensAccount() bool { return a.Type == PasskeyAddition || a.Type == IdentityAddition }

// WithoutAdditions returns the proofs that are not of the additions.
func WithoutAdditions(proofs []Proof, additions []Addition) []Proof {
	return slices.DeleteFunc(slices.Clone(proofs), func(p Proof) bool {
		return slices.ContainsFunc(additions, func(a Addition) bool { return a.IsProvedBy(p) })
	})
}

// IsStrongerThanPassword reports whether a class proves more than a password can: two factors, or that the
// sign-in resists phishing.
func IsStrongerThanPassword(acr string) bool {
	return Satisfies(acr, ACRMultiFactor) || Satisfies(acr, ACRPhishingResistant)
}
