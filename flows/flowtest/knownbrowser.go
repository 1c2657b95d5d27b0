package flowtest

import (
	"encoding/json"

	"github.com/postern-id/postern/schemas"
)

// KnownBrowser is what the browser of a scenario is known for. In JSON it is true for everything, or
// one of schemas.KnownFor.
type KnownBrowser struct {
	everything bool
	strength   string
}

// UnmarshalJSON decodes a boolean or the name of a strength; the schema rejects other names.
func (k *KnownBrowser) UnmarshalJSON(text []byte) error {
	*k = KnownBrowser{}
	if json.Unmarshal(text, &k.everything) == nil {
		return nil
	}
	var name string
	if err := json.Unmarshal(text, &name); err != nil {
		return err
	}
	k.strength, _ = schemas.ParseKnownFor(name)
	return nil
}

// MarshalJSON is the inverse of UnmarshalJSON.
func (k KnownBrowser) MarshalJSON() ([]byte, error) {
	if k.strength != "" {
		return json.Marshal(k.strength)
	}
	return json.Marshal(k.everything)
}

// satisfies reports whether the browser is known for a strength. A mailed code has the weakest class.
func (k KnownBrowser) satisfies(strength string) bool {
	has := k.strength
	if has == schemas.BrowserEmail && strength != has {
		has = schemas.ACRVouched
	}
	return k.everything || has != "" && schemas.Satisfies(has, strength)
}
