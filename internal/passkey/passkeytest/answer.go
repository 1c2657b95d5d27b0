package passkeytest

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
)

// The flags of authenticator data, L3 §6.1.
const (
	flagUP = 1 << 0
	flagUV = 1 << 2
	flagBE = 1 << 3
	flagBS = 1 << 4
	flagAT = 1 << 6
	flagED = 1 << 7
)

// options are the members of creation and request options that the authenticator uses.
type options struct {
	Challenge string `json:"challenge"`
	RP        struct {
		ID string `json:"id"`
	} `json:"rp"`
	RPID string `json:"rpId"`
	User struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"user"`
	Params []struct {
		Alg int64 `json:"alg"`
	} `json:"pubKeyCredParams"`
	Exclude   []descriptor `json:"excludeCredentials"`
	Allow     []descriptor `json:"allowCredentials"`
	Selection struct {
		Attachment       string `json:"authenticatorAttachment"`
		UserVerification string `json:"userVerification"`
	} `json:"authenticatorSelection"`
	UserVerification string `json:"userVerification"`
	Attestation      string `json:"attestation"`
}

type descriptor struct {
	ID string `json:"id"`
}

// parseOptions parses options and sets the relying party ID, by default the host of the
// page.
func parseOptions(raw json.RawMessage, origin string) (*options, error) {
	var o options
	if err := json.Unmarshal(raw, &o); err != nil {
		return nil, fmt.Errorf("read the options: %w", err)
	}
	if o.Challenge == "" {
		return nil, fmt.Errorf("read the options: they have no challenge (is there a publicKey member around them?)")
	}
	page, err := url.Parse(origin)
	if err != nil {
		return nil, fmt.Errorf("read the origin: %w", err)
	}
	o.RPID = cmp.Or(o.RPID, o.RP.ID, page.Hostname())
	return &o, nil
}

func listed(list []descriptor, id []byte) bool {
	return slices.ContainsFunc(list, func(d descriptor) bool { return d.ID == encode(id) })
}

// clientData returns the collected client data of L3 §5.8.1.
func (c *call) clientData(ceremony string) []byte {
	data := struct {
		Type        string `json:"type"`
		Challenge   string `json:"challenge"`
		Origin      string `json:"origin"`
		CrossOrigin bool   `json:"crossOrigin"`
		TopOrigin   string `json:"topOrigin,omitempty"`
	}{Type: ceremony, Challenge: c.options.Challenge, Origin: c.origin}
	for _, fault := range c.faults {
		switch fault {
		case WrongType:
			data.Type = map[string]string{"webauthn.create": "webauthn.get", "webauthn.get": "webauthn.create"}[ceremony]
		case WrongChallenge:
			data.Challenge = encode(make([]byte, 32))
		case WrongOrigin:
			data.Origin = "https://evil.example"
		case CrossOrigin:
			data.CrossOrigin = true
		case TopOrigin:
			data.TopOrigin = "https://evil.example"
		}
	}
	text := must(json.Marshal(data))
	if c.has(NotUTF8) {
		text = slices.Concat([]byte("{\"note\":\"\xff\","), text[1:])
	}
	if c.has(NotJSON) {
		text = text[1:]
	}
	return text
}

// authData returns the authenticator data of L3 §6.1 with the attested credential data, if
// any.
func (a *Authenticator) authData(c *call, count uint32, attested []byte) []byte {
	rpID := c.options.RPID
	if c.has(WrongRPID) {
		rpID = "evil.example"
	}
	if c.has(NoAttestedData) {
		attested = nil
	}
	hash := sha256.Sum256([]byte(rpID))
	data := append(hash[:], a.flags(c, attested != nil))
	data = append(binary.BigEndian.AppendUint32(data, count), attested...)
	if c.has(ShortData) {
		data = data[:len(data)-1]
	}
	return data
}

// flags returns the flags of authenticator data, with or without attested credential data.
func (a *Authenticator) flags(c *call, attested bool) byte {
	flags := byte(flagUP)
	if !a.noUV {
		flags |= flagUV
	}
	if a.synced != c.has(BEChanged) {
		flags |= flagBE | flagBS
	}
	if attested {
		flags |= flagAT
	}
	changes := map[Fault]struct{ clear, set byte }{
		BSWithoutBE:     {flagBE, flagBS},
		NoExtensionData: {0, flagED},
		NoUP:            {flagUP, 0},
		NoUV:            {flagUV, 0},
	}
	for _, fault := range c.faults {
		flags = flags&^changes[fault].clear | changes[fault].set
	}
	return flags
}

// signed signs authenticator data and the hash of the client data (L3 §6.3.3).
func (c *call) signed(k key, authData, clientData []byte) []byte {
	hash := sha256.Sum256(clientData)
	signature := k.sign(slices.Concat(authData, hash[:]))
	if c.has(BadSignature) {
		signature[len(signature)-1] ^= 1
	}
	return signature
}

// oversized returns a credential ID longer than the 1023 bytes allowed.
func oversized(id []byte) []byte { return append(id, make([]byte, 1024-len(id))...) }

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// must returns a value whose creation cannot fail here: keys and randomness are the package's own.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}
