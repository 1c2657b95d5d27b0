package password

import (
	"cmp"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"

	"golang.org/x/crypto/argon2"
	"golang.org/x/crypto/bcrypt"
	"golang.org/x/crypto/scrypt"
	"golang.org/x/text/unicode/norm"
)

// The schemes of imported hashes.
const (
	Bcrypt         = "bcrypt"
	PBKDF2         = "pbkdf2"
	Scrypt         = "scrypt"
	FirebaseScrypt = "firebase-scrypt"
	Argon2id       = "imported-argon2id"
	Argon2i        = "imported-argon2i"
	Digest         = "digest"
	HMAC           = "hmac"
)

// Limits of the cost of an imported hash. Like those of argon2 they bound what one attempt can
// cost: about a second, and 256 MiB.
const (
	maxBcryptCost   = 14
	maxPBKDF2Rounds = 2_000_000
	maxScryptWork   = 1 << 21 // N·r·p
	maxDigestRounds = 120_000 // the most that Firebase accepts
	maxImportedSalt = 1 << 10
)

// Imported is a password hash that another product made. [Pool.Verify] accepts its String in place
// of a hash of its own, and then reports that it should be replaced.
type Imported struct {
	Scheme string
	// Hash is the hash function of PBKDF2, Digest and HMAC: md5, sha1, sha256, sha384 or sha512.
	Hash string
	// Rounds are the iterations of PBKDF2 and argon2, and how often Digest hashes; r of scrypt.
	Rounds int
	// Memory is that of argon2 in KiB, and the binary logarithm of N of scrypt.
	Memory int
	// Parallelism is p of argon2 and scrypt.
	Parallelism int
	// SaltLast makes Digest and HMAC hash the password before the salt.
	SaltLast bool
	Salt     []byte
	// Secret is the key of HMAC, and the signer key of FirebaseScrypt.
	Secret []byte
	Key    []byte
	// Text is the whole hash of Bcrypt in the format of crypt: $2b$10$…
	Text string
}

// NewPBKDF2 returns a hash of PBKDF2 (RFC 8018 §5.2). It keeps only the first block of a longer
// key: each block costs all iterations again, and one block is as hard to guess.
func NewPBKDF2(hash string, iterations int, salt, key []byte) Imported {
	if h := newHash(hash); h != nil {
		key = key[:min(len(key), h().Size())]
	}
	return Imported{Scheme: PBKDF2, Hash: hash, Rounds: iterations, Salt: salt, Key: key}
}

// NewFirebaseScrypt returns a hash of Firebase's modified scrypt. The salt is that of the user
// followed by the salt separator of the project; rounds and the memory cost are those of the project.
func NewFirebaseScrypt(signerKey, salt []byte, rounds, memoryCost int, key []byte) Imported {
	return Imported{Scheme: FirebaseScrypt, Rounds: rounds, Memory: memoryCost, Parallelism: 1, Salt: salt, Secret: signerKey, Key: key}
}

// String returns the text that is stored.
func (h Imported) String() string {
	if h.Scheme == Bcrypt {
		return h.Text
	}
	b64 := base64.RawStdEncoding
	order := 0
	if h.SaltLast {
		order = 1
	}
	return fmt.Sprintf("$%s$h=%s,i=%d,m=%d,p=%d,o=%d$%s$%s$%s", h.Scheme, cmp.Or(h.Hash, "-"), h.Rounds, h.Memory, h.Parallelism, order,
		b64.EncodeToString(h.Salt), b64.EncodeToString(h.Secret), b64.EncodeToString(h.Key))
}

// parseImported accepts only what String writes, within the limits. Known is false if the text has
// none of the schemes. Errors never contain the hash.
func parseImported(s string) (h Imported, known bool, err error) {
	if strings.HasPrefix(s, "$2") {
		h = Imported{Scheme: Bcrypt, Text: s}
		return h, true, h.Check()
	}
	parts := strings.Split(s, "$")
	if len(parts) < 2 || !slices.Contains(importedSchemes(), parts[1]) {
		return h, false, nil
	}
	form := errors.New("expected $scheme$h=…,i=…,m=…,p=…,o=…$salt$secret$key")
	if len(parts) != 6 {
		return h, true, form
	}
	h.Scheme = parts[1]
	order, parameters := 0, ""
	h.Hash, parameters, _ = strings.Cut(strings.TrimPrefix(parts[2], "h="), ",")
	h.Hash = strings.TrimPrefix(h.Hash, "-")
	_, err = fmt.Sscanf(parameters, "i=%d,m=%d,p=%d,o=%d", &h.Rounds, &h.Memory, &h.Parallelism, &order)
	h.SaltLast = order == 1
	for i, into := range []*[]byte{&h.Salt, &h.Secret, &h.Key} {
		text, wrong := base64.RawStdEncoding.DecodeString(parts[3+i])
		*into, err = text, cmp.Or(err, wrong)
	}
	if err != nil || h.String() != s {
		return h, true, form
	}
	return h, true, h.Check()
}

func importedSchemes() []string {
	return []string{PBKDF2, Scrypt, FirebaseScrypt, Argon2id, Argon2i, Digest, HMAC}
}

// Check returns what keeps the hash from being verified: an unknown function, or a cost over the
// limits.
func (h Imported) Check() error {
	if h.Scheme != Bcrypt && (len(h.Salt) > maxImportedSalt || len(h.Secret) > maxImportedSalt || len(h.Key) < minKey || len(h.Key) > 2*maxKey) {
		return fmt.Errorf("expected a key of %d to %d bytes, and a salt of at most %d, got %d and %d", minKey, 2*maxKey, maxImportedSalt, len(h.Key), len(h.Salt))
	}
	switch h.Scheme {
	case Bcrypt:
		return checkBcrypt(h.Text)
	case PBKDF2, Digest, HMAC:
		return h.checkHash()
	case Scrypt, FirebaseScrypt:
		return h.checkScrypt()
	case Argon2id, Argon2i:
		if h.Memory < 0 || h.Memory > maxMemoryKiB || h.Rounds < 0 || h.Rounds > maxIterations || h.Parallelism < 0 || h.Parallelism > maxParallelism {
			return fmt.Errorf("m=%d,t=%d,p=%d is over the limits m=%d,t=%d,p=%d", h.Memory, h.Rounds, h.Parallelism, maxMemoryKiB, maxIterations, maxParallelism)
		}
		return params{uint32(h.Memory), uint32(h.Rounds), uint8(h.Parallelism)}.check()
	}
	return fmt.Errorf("unknown scheme %.32q", h.Scheme)
}

func checkBcrypt(text string) error {
	cost, err := bcrypt.Cost([]byte(text))
	switch {
	case err != nil || len(text) != 60:
		return errors.New("expected a bcrypt hash of 60 characters: $2b$10$…")
	case cost > maxBcryptCost:
		return fmt.Errorf("the bcrypt cost %d is over %d", cost, maxBcryptCost)
	}
	return nil
}

func (h Imported) checkHash() error {
	newer, most := newHash(h.Hash), maxDigestRounds
	if h.Scheme == PBKDF2 {
		most = maxPBKDF2Rounds
	}
	switch {
	case newer == nil:
		return fmt.Errorf("unknown hash function %.32q: expected md5, sha1, sha256, sha384 or sha512", h.Hash)
	case h.Rounds < 1 || h.Rounds > most:
		return fmt.Errorf("%d rounds are not within 1 and %d", h.Rounds, most)
	case len(h.Key) > newer().Size():
		return fmt.Errorf("the key has %d bytes, expected at most the %d of %s", len(h.Key), newer().Size(), h.Hash)
	}
	return nil
}

func (h Imported) checkScrypt() error {
	switch {
	case h.Memory < 1 || h.Memory > 20 || h.Rounds < 1 || h.Parallelism < 1 || h.Parallelism > maxParallelism:
		return fmt.Errorf("the cost N=2^%d, r=%d, p=%d is not within the limits", h.Memory, h.Rounds, h.Parallelism)
	case h.Rounds > maxScryptWork>>h.Memory/h.Parallelism:
		return fmt.Errorf("the work N·r·p is over %d for N=2^%d, r=%d, p=%d", maxScryptWork, h.Memory, h.Rounds, h.Parallelism)
	case h.Scheme == FirebaseScrypt && (len(h.Secret) == 0 || len(h.Key) != len(h.Secret)):
		return fmt.Errorf("the hash has %d bytes, expected as many as the signer key: %d", len(h.Key), len(h.Secret))
	}
	return nil
}

// newHash returns a hash function; nil for an unknown one.
func newHash(name string) func() hash.Hash {
	return map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha384": sha512.New384, "sha512": sha512.New}[name]
}

// matches reports whether a password is the one of a valid hash. Other products hash what the user
// typed, so that form is tried first, then NFC if that differs.
func (h Imported) matches(password string) bool {
	composed := norm.NFC.String(password)
	return h.matchesBytes([]byte(password)) || composed != password && h.matchesBytes([]byte(composed))
}

func (h Imported) matchesBytes(password []byte) bool {
	if h.Scheme == Bcrypt {
		return bcrypt.CompareHashAndPassword([]byte(h.Text), password) == nil
	}
	key, err := h.derive(password)
	return err == nil && subtle.ConstantTimeCompare(key, h.Key) == 1
}

// derive returns the key of a password. Its errors are those of parameters that Check rejects.
func (h Imported) derive(password []byte) ([]byte, error) {
	switch h.Scheme {
	case PBKDF2:
		return pbkdf2.Key(newHash(h.Hash), string(password), h.Salt, h.Rounds, len(h.Key))
	case Scrypt:
		return scrypt.Key(password, h.Salt, 1<<h.Memory, h.Rounds, h.Parallelism, len(h.Key))
	case FirebaseScrypt:
		return h.signerKey(password)
	case Argon2id:
		return argon2.IDKey(password, h.Salt, uint32(h.Rounds), uint32(h.Memory), uint8(h.Parallelism), uint32(len(h.Key))), nil
	case Argon2i:
		return argon2.Key(password, h.Salt, uint32(h.Rounds), uint32(h.Memory), uint8(h.Parallelism), uint32(len(h.Key))), nil
	case Digest:
		return h.digest(newHash(h.Hash)(), password), nil
	}
	return h.digest(hmac.New(newHash(h.Hash), h.Secret), password), nil
}

// signerKey encrypts the project's signer key with the key that scrypt derives from the password:
// AES-256 in counter mode, with a counter that begins at zero.
func (h Imported) signerKey(password []byte) ([]byte, error) {
	key, err := scrypt.Key(password, h.Salt, 1<<h.Memory, h.Rounds, 1, 32)
	if err != nil {
		return nil, err
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	sealed := make([]byte, len(h.Secret))
	cipher.NewCTR(block, make([]byte, aes.BlockSize)).XORKeyStream(sealed, h.Secret)
	return sealed, nil
}

// digest hashes salt and password, and then the result again, as often as there are rounds.
func (h Imported) digest(with hash.Hash, password []byte) []byte {
	first, second := h.Salt, password
	if h.SaltLast {
		first, second = second, first
	}
	sum := slices.Concat(first, second)
	for range h.Rounds {
		with.Reset()
		with.Write(sum)
		sum = with.Sum(nil)
	}
	return sum
}
