package nodes

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/postern-id/postern/engine"
	"github.com/postern-id/postern/schemas"
)

func recoveryCodesKind(d Deps) declared {
	return configured[recoveryCodes](d, engine.Kind{
		Name: "recovery-codes",
		Doc: "Gives the run's user ten recovery codes, each valid once, in case they lose their other credentials. The codes are shown only " +
			"here. When the user confirms that they have saved them, they become valid and replace all earlier ones. " +
			"The user must be new in this run or have authenticated in it.",
		Asks:  true,
		Needs: append(ownUserNeeds("it would show an attacker the recovery codes of another user's account"), strengthNeed(schemas.ACRRecovery), factorNeed()),
		Outcomes: []engine.Outcome{
			engine.On(successOutcome, engine.Effect{Adds: engine.RecoveryCodes}, engine.Outcome{Doc: "the user has new recovery codes, which replace any others", Establishes: []engine.Fact{engine.Credential, engine.Enrolled}}),
			keepsFactor(engine.HasCodes),
			skipOutcome(),
		},
	}, errorCodes{schemas.CodeStaleProof},
		row{"success, kept, skip (if `optional: true`)", "ten single-use codes"})
}

type recoveryCodes struct {
	node
	Title    string   `json:"title,omitempty" min:"1" default:"Save your recovery codes" doc:"The heading. Default: 'Save your recovery codes'."`
	Text     string   `json:"text,omitempty" min:"1" doc:"A paragraph above the codes that explains their purpose."`
	Label    string   `json:"label,omitempty" min:"1" default:"I have saved them" doc:"The label of the button. Default: 'I have saved them'."`
	Optional optional `json:"optional,omitempty"`
}

// savedAction is the action that activates the codes.
const savedAction = "saved"

func (r *recoveryCodes) prepare(*engine.Config) []schemas.Problem {
	r.outcomes = r.Optional.outcomes(r.outcomes)
	r.form = form{
		title:   cmp.Or(r.Title, "Save your recovery codes"),
		text:    cmp.Or(r.Text, "Each of these codes signs you in once if you lose your other sign-in methods. Keep them in a safe place: they are not shown again."),
		buttons: append([]button{{ref: savedAction, label: cmp.Or(r.Label, "I have saved them")}}, r.Optional.buttons()...),
	}
	return nil
}

// Execute shows codes, and stores them once the user has saved them.
func (r *recoveryCodes) Execute(ctx context.Context, v *engine.Visit) (*engine.Decision, error) {
	if d, err := r.deps.beforeEnrolling(ctx, v, r.Optional); d != nil || err != nil {
		return d, err
	}
	if v.Answer == nil {
		return r.show(), nil
	}
	return r.given(v)
}

// show also returns the codes as data, under recoveryCodes as a JSON array, for clients that render
// themselves.
func (r *recoveryCodes) show() *engine.Decision {
	codes := newCodes()
	list := schemas.Component{ID: "codes", Type: schemas.StackComponent, Variant: "CODES"}
	for i, code := range codes {
		list.Components = append(list.Components, text(fmt.Sprintf("code_%d", i+1), code, "CODE"))
	}
	f := r.form
	f.shown = []schemas.Component{list}
	ask := f.ask()
	ask.Data = map[string]string{"recoveryCodes": string(must(json.Marshal(codes)))}
	return &engine.Decision{Ask: ask, NodeState: must(json.Marshal(hashCodes(codes)))}
}

func (r *recoveryCodes) given(v *engine.Visit) (*engine.Decision, error) {
	var hashes [][]byte
	if err := json.Unmarshal(v.NodeState, &hashes); err != nil {
		return nil, err
	}
	return &engine.Decision{Outcome: successOutcome, Proofs: []schemas.Proof{schemas.ProofOfRecoveryCode(hashes[0])}, Changes: []schemas.Change{
		schemas.SetRecoveryCodes{UserID: v.Subject.UserID, Hashes: hashes, At: v.Now, AddedBy: r.provenance(v)},
		event(v, "recovery.issued", v.Subject.UserID, nil),
	}}, nil
}

// A recovery code has 120 random bits, so a plain hash is sufficient for storage (NIST SP 800-63B
// section 3.1.2.2 requires 112), in characters that are hard to confuse.
const (
	codeCount    = 10
	codeBytes    = 15
	codeAlphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
)

// newCodes returns a set of recovery codes, such as 7K3M-9QWE-….
func newCodes() []string {
	codes := make([]string, codeCount)
	for i := range codes {
		var random [codeBytes]byte
		rand.Read(random[:]) // never fails
		codes[i] = grouped(base32.NewEncoding(codeAlphabet).EncodeToString(random[:]), "-")
	}
	return codes
}

func hashCodes(codes []string) [][]byte {
	hashes := make([][]byte, len(codes))
	for i, code := range codes {
		hashes[i] = HashRecoveryCode(code)
	}
	return hashes
}

// grouped writes an ASCII text in groups of four characters, which are easier to copy.
func grouped(text, separator string) string {
	groups := slices.Collect(slices.Chunk([]byte(text), 4))
	return string(bytes.Join(groups, []byte(separator)))
}
