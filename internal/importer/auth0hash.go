package importer

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"github.com/postern-id/postern/internal/password"
)

// auth0CustomHash is a hash of a product before Auth0.
type auth0CustomHash struct {
	Algorithm string `json:"algorithm"`
	Hash      struct {
		Value    string `json:"value"`
		Encoding string `json:"encoding"`
		Digest   string `json:"digest"`
		Key      struct {
			Value    string `json:"value"`
			Encoding string `json:"encoding"`
		} `json:"key"`
	} `json:"hash"`
	Salt struct {
		Value    string `json:"value"`
		Encoding string `json:"encoding"`
		Position string `json:"position"`
	} `json:"salt"`
	KeyLength   int `json:"keylen"`
	Cost        int `json:"cost"`
	BlockSize   int `json:"blockSize"`
	Parallel    int `json:"parallelization"`
	PasswordEnc struct {
		Encoding string `json:"encoding"`
	} `json:"password"`
}

// imported returns the hash.
func (c *auth0CustomHash) imported() (h password.Imported, err error) {
	algorithm := strings.ToLower(c.Algorithm)
	if e := c.PasswordEnc.Encoding; e != "" && e != "utf8" {
		return h, fmt.Errorf("passwords in %.20q are not supported", e)
	}
	switch algorithm {
	case "bcrypt":
		return password.Imported{Scheme: password.Bcrypt, Text: c.Hash.Value}, nil
	case "argon2":
		return parsePHC(c.Hash.Value)
	case "pbkdf2":
		return parsePHC(c.Hash.Value)
	}
	key, err1 := decodeText(c.Hash.Value, firstText(c.Hash.Encoding, "hex"))
	salt, err2 := decodeText(c.Salt.Value, firstText(c.Salt.Encoding, "utf8"))
	if err1 != nil || err2 != nil {
		return h, errors.New("the hash or the salt is not in its encoding")
	}
	h = password.Imported{Scheme: password.Digest, Hash: algorithm, Rounds: 1, Salt: salt, Key: key, SaltLast: c.Salt.Position == "suffix"}
	switch algorithm {
	case "md5", "sha1", "sha256", "sha512":
		return h, nil
	case "hmac":
		secret, err := decodeText(c.Hash.Key.Value, firstText(c.Hash.Key.Encoding, "utf8"))
		h.Scheme, h.Hash, h.Secret = password.HMAC, strings.ToLower(c.Hash.Digest), secret
		return h, err
	case "scrypt":
		return newScrypt(c.Cost, c.BlockSize, c.Parallel, salt, key)
	}
	return h, fmt.Errorf("the algorithm %.20q is not supported", c.Algorithm)
}

// newScrypt returns a hash of scrypt (RFC 7914), whose N must be a power of two.
func newScrypt(n, r, p int, salt, key []byte) (password.Imported, error) {
	log := 0
	for 1<<(log+1) <= n && log < 30 {
		log++
	}
	if n < 2 || 1<<log != n {
		return password.Imported{}, fmt.Errorf("the cost %d of scrypt is not a power of two", n)
	}
	return password.Imported{Scheme: password.Scrypt, Memory: log, Rounds: r, Parallelism: p, Salt: salt, Key: key}, nil
}

// decodeText decodes a value in one of the encodings utf8, hex and base64.
func decodeText(text, encoding string) ([]byte, error) {
	switch encoding {
	case "hex":
		return hex.DecodeString(text)
	case "base64":
		return decodeBase64(text)
	}
	return []byte(text), nil
}

// parsePHC reads a PHC string of argon2 or PBKDF2: $argon2id$v=19$m=…,t=…,p=…$salt$key, or
// $pbkdf2-sha256$i=…,l=…$salt$key.
func parsePHC(text string) (h password.Imported, err error) {
	wrong := errors.New("the PHC string cannot be read")
	parts := strings.Split(text, "$")
	if len(parts) < 5 {
		return h, wrong
	}
	salt, err1 := decodeBase64(parts[len(parts)-2])
	key, err2 := decodeBase64(parts[len(parts)-1])
	if err1 != nil || err2 != nil {
		return h, wrong
	}
	if hash, is := strings.CutPrefix(parts[1], "pbkdf2-"); is {
		rounds := 0
		if _, err := fmt.Sscanf(parts[2], "i=%d", &rounds); err != nil {
			return h, wrong
		}
		return password.NewPBKDF2(hash, rounds, salt, key), nil
	}
	h = password.Imported{Scheme: "imported-" + parts[1], Salt: salt, Key: key}
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.Memory, &h.Rounds, &h.Parallelism); err != nil || len(parts) != 6 || parts[2] != "v=19" {
		return h, wrong
	}
	return h, nil
}
