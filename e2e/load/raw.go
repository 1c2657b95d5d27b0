package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"os"
	"time"
)

// rawCost returns the processor time of one P-256 verification and one signature on this machine
// at this moment, the minimum cost of a passkey step. /proc counts in hundredths of a second, so it
// takes many rounds.
func rawCost() (time.Duration, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return 0, err
	}
	digest := sha256.Sum256([]byte("assertion"))
	before, err := processorTime(os.Getpid(), false)
	if err != nil {
		return 0, err
	}
	const rounds = 10_000
	for range rounds {
		signature, err := ecdsa.SignASN1(rand.Reader, key, digest[:])
		if err != nil || !ecdsa.VerifyASN1(&key.PublicKey, digest[:], signature) {
			return 0, errors.Join(err, errors.New("a signature is not valid"))
		}
	}
	after, err := processorTime(os.Getpid(), false)
	return (after - before) / rounds, err
}
