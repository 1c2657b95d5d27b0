package backup

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"filippo.io/age"

	"github.com/postern-id/postern/internal/folder"
)

// minPassphrase is the minimum length of a passphrase for a new backup, in bytes: an attacker who
// has the file can guess without limit.
const minPassphrase = 16

// maxKeys limits a file with a passphrase or keys, in bytes.
const maxKeys = 1 << 20

// Secrets are the files with which a backup is encrypted or decrypted. All paths are optional.
type Secrets struct {
	PassphraseFile string    // with one line; - for Stdin
	Stdin          io.Reader // nil: empty
	RecipientsFile string    // public keys of age, one a line
	IdentityFile   string    // private keys of age, one a line
	WorkFactor     int       // of scrypt, as a power of two; 0: that of age
}

// Recipients returns the recipients of a new backup; none if it is not encrypted.
func (s Secrets) Recipients() ([]age.Recipient, error) {
	switch {
	case s.PassphraseFile != "" && s.RecipientsFile != "":
		return nil, errors.New("expected --passphrase-file or --recipients-file, not both")
	case s.RecipientsFile != "":
		return readKeys("--recipients-file", s.RecipientsFile, "age1…", func(text []byte) ([]age.Recipient, error) { return age.ParseRecipients(bytes.NewReader(text)) })
	case s.PassphraseFile == "":
		return nil, nil
	}
	passphrase, err := s.passphrase()
	if err != nil {
		return nil, err
	}
	if len(passphrase) < minPassphrase {
		return nil, fmt.Errorf("--passphrase-file %s: expected a passphrase of at least %d bytes: `openssl rand -base64 24` generates one", s.PassphraseFile, minPassphrase)
	}
	r, err := age.NewScryptRecipient(passphrase)
	if err == nil && s.WorkFactor > 0 {
		r.SetWorkFactor(s.WorkFactor)
	}
	return []age.Recipient{r}, err
}

// Identities returns the identities that decrypt a backup.
func (s Secrets) Identities() ([]age.Identity, error) {
	var list []age.Identity
	if s.IdentityFile != "" {
		found, err := readKeys("--identity-file", s.IdentityFile, "AGE-SECRET-KEY-1…", func(text []byte) ([]age.Identity, error) { return age.ParseIdentities(bytes.NewReader(text)) })
		if err != nil {
			return nil, err
		}
		list = found
	}
	if s.PassphraseFile == "" {
		return list, nil
	}
	passphrase, err := s.passphrase()
	if err != nil {
		return nil, err
	}
	identity, err := age.NewScryptIdentity(passphrase)
	return append(list, identity), err
}

// readKeys reads the keys of a file. The error does not show its content.
func readKeys[K any](flag, path, example string, parse func([]byte) ([]K, error)) ([]K, error) {
	text, err := folder.Read(path, maxKeys)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", flag, err)
	}
	keys, err := parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s %s: expected keys of age, one a line, such as %s", flag, path, example)
	}
	return keys, nil
}

func (s Secrets) passphrase() (string, error) {
	var text []byte
	var err error
	switch {
	case s.PassphraseFile != "-":
		text, err = folder.Read(s.PassphraseFile, maxKeys)
	case s.Stdin != nil:
		text, err = io.ReadAll(io.LimitReader(s.Stdin, maxKeys))
	}
	if err != nil {
		return "", fmt.Errorf("--passphrase-file: %w", err)
	}
	passphrase := strings.TrimRight(string(text), "\r\n")
	if passphrase == "" || strings.ContainsAny(passphrase, "\r\n") {
		return "", fmt.Errorf("--passphrase-file %s: expected a file with one line", s.PassphraseFile)
	}
	return passphrase, nil
}
