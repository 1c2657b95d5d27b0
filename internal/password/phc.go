package password

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
)

// Limits of a stored hash. A manipulated row must not make the server spend gigabytes or minutes on
// one attempt.
const (
	maxMemoryKiB   = 256 << 10 // 256 MiB
	maxIterations  = 64
	maxWork        = 1 << 20 // memory in KiB × iterations
	maxParallelism = 16
	minSalt        = 8 // RFC 9106 §3.1
	maxSalt        = 64
	minKey         = 16
	maxKey         = 64
)

// params are the cost of a hash: argon2's m, t and p.
type params struct {
	memoryKiB   uint32
	iterations  uint32
	parallelism uint8
}

// check reports the first parameter that is out of bounds.
func (p params) check() error {
	switch {
	case p.parallelism < 1 || p.parallelism > maxParallelism:
		return fmt.Errorf("p=%d is not within 1 and %d", p.parallelism, maxParallelism)
	case p.memoryKiB < 8*uint32(p.parallelism) || p.memoryKiB > maxMemoryKiB:
		return fmt.Errorf("m=%d is not within 8·p and %d KiB", p.memoryKiB, maxMemoryKiB)
	case p.iterations < 1 || p.iterations > maxIterations:
		return fmt.Errorf("t=%d is not within 1 and %d", p.iterations, maxIterations)
	case p.memoryKiB*p.iterations > maxWork:
		return fmt.Errorf("m·t=%d is over %d", p.memoryKiB*p.iterations, maxWork)
	}
	return nil
}

// phc is a stored hash.
type phc struct {
	params
	salt, key []byte
}

// check reports the first parameter or length that is out of bounds.
func (h phc) check() error {
	switch {
	case len(h.salt) < minSalt || len(h.salt) > maxSalt:
		return fmt.Errorf("the salt has %d bytes, expected %d to %d", len(h.salt), minSalt, maxSalt)
	case len(h.key) < minKey || len(h.key) > maxKey:
		return fmt.Errorf("the key has %d bytes, expected %d to %d", len(h.key), minKey, maxKey)
	}
	return h.params.check()
}

// String writes the PHC string format.
func (h phc) String() string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$%s$%s", h.memoryKiB, h.iterations,
		h.parallelism, b64.EncodeToString(h.salt), b64.EncodeToString(h.key))
}

// parsePHC accepts only what String writes: every hash has one spelling. Its errors never contain
// the salt or the key.
func parsePHC(s string) (phc, error) {
	form := errors.New("expected $argon2id$v=19$m=…,t=…,p=…$salt$key, with decimal numbers and base64 without padding")
	parts := strings.Split(s, "$")
	if len(parts) != 6 {
		return phc{}, form
	}
	var h phc
	_, err1 := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &h.memoryKiB, &h.iterations, &h.parallelism)
	salt, err2 := base64.RawStdEncoding.DecodeString(parts[4])
	key, err3 := base64.RawStdEncoding.DecodeString(parts[5])
	h.salt, h.key = salt, key
	if cmp.Or(err1, err2, err3) != nil || h.String() != s {
		return phc{}, form
	}
	return h, h.check()
}
