package password

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
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

// String writes the PHC string format.
func (h phc) String() string {
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=19$m=%d,t=%d,p=%d$%s$%s", h.memoryKiB, h.iterations,
		h.parallelism, b64.EncodeToString(h.salt), b64.EncodeToString(h.key))
}

// parsePHC accepts only what String writes: every hash has one spelling. Its errors never contain
// the salt or the key.
func parsePHC(s string) (phc, error) {
	parts := strings.Split(s, "$")
	if len(parts) != 6 || parts[0] != "" {
		return phc{}, errors.New("expected $argon2id$v=19$m=…,t=…,p=…$salt$key")
	}
	if parts[1] != "argon2id" || parts[2] != "v=19" {
		return phc{}, errors.New("expected argon2id of version 19 (1.3)")
	}
	p, err := parseParams(parts[3])
	if err != nil {
		return phc{}, err
	}
	salt, err := parseBytes(parts[4], "salt", minSalt, maxSalt)
	if err != nil {
		return phc{}, err
	}
	key, err := parseBytes(parts[5], "key", minKey, maxKey)
	return phc{params: p, salt: salt, key: key}, err
}

func parseParams(s string) (params, error) {
	fields := strings.Split(s, ",")
	if len(fields) != 3 {
		return params{}, errors.New("expected the parameters m, t and p, in this order")
	}
	var n [3]uint32
	for i, name := range []string{"m=", "t=", "p="} {
		v, err := parseNumber(fields[i], name)
		if err != nil {
			return params{}, err
		}
		n[i] = v
	}
	if n[2] > maxParallelism { // before the conversion below could wrap it around
		return params{}, fmt.Errorf("p=%d is not within 1 and %d", n[2], maxParallelism)
	}
	p := params{memoryKiB: n[0], iterations: n[1], parallelism: uint8(n[2])}
	return p, p.check()
}

func parseNumber(field, name string) (uint32, error) {
	text, ok := strings.CutPrefix(field, name)
	v, err := strconv.ParseUint(text, 10, 32)
	if !ok || err != nil || strconv.FormatUint(v, 10) != text {
		return 0, fmt.Errorf("expected %s and a decimal number", name)
	}
	return uint32(v), nil
}

func parseBytes(s, what string, least, most int) ([]byte, error) {
	if len(s) > base64.RawStdEncoding.EncodedLen(most) {
		return nil, fmt.Errorf("the %s is longer than %d bytes", what, most)
	}
	raw, err := base64.RawStdEncoding.DecodeString(s)
	// The decoder accepts line breaks and unused trailing bits; encoding again detects both.
	if err != nil || base64.RawStdEncoding.EncodeToString(raw) != s {
		return nil, fmt.Errorf("the %s is not base64 without padding", what)
	}
	if len(raw) < least || len(raw) > most {
		return nil, fmt.Errorf("the %s has %d bytes, expected %d to %d", what, len(raw), least, most)
	}
	return raw, nil
}
