package importer

import (
	"encoding/base32"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/password"
	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// keycloakCredential is a credential. SecretData and CredentialData are JSON texts.
type keycloakCredential struct {
	Type           string   `json:"type"`
	UserLabel      string   `json:"userLabel"`
	Created        looseInt `json:"createdDate"`
	SecretData     string   `json:"secretData"`
	CredentialData string   `json:"credentialData"`

	// Realms that were written by hand have a password in clear text; those of releases before 8, a hash.
	Value      string    `json:"value"`
	Temporary  looseBool `json:"temporary"`
	Hash       string    `json:"hashedSaltedValue"`
	Salt       string    `json:"salt"`
	Iterations looseInt  `json:"hashIterations"`
	Algorithm  looseText `json:"algorithm"`
	Digits     looseInt  `json:"digits"`
	Period     looseInt  `json:"period"`
}

// modern returns a credential in the form of today.
func (c keycloakCredential) modern() keycloakCredential {
	secret, data := map[string]any{"value": firstText(c.Value, c.Hash)}, map[string]any{"digits": c.Digits, "period": c.Period, "algorithm": c.Algorithm, "subType": c.Type}
	if c.Type == "password" {
		secret, data = map[string]any{"value": c.Hash, "salt": c.Salt}, map[string]any{"hashIterations": c.Iterations, "algorithm": c.Algorithm}
	}
	if c.SecretData == "" && (c.Hash != "" || c.Type != "password" && c.Value != "") {
		text, err1 := json.Marshal(secret)
		more, err2 := json.Marshal(data)
		if err1 == nil && err2 == nil {
			c.SecretData, c.CredentialData = string(text), string(more)
		}
	}
	return c
}

// addCredential adds a credential to a user, or reports why it cannot be used.
func (k *keycloak) addCredential(r *Report, u *User, c keycloakCredential) {
	c = c.modern()
	switch c.Type {
	case "password":
		if c.Temporary {
			r.add("passwords", u.Place, "the password is temporary, and stays valid here", "let the user set a new one: password-set in the sign-in flow, or an invitation")
		}
		if c.SecretData == "" && c.Value != "" {
			u.PlainPassword = c.Value
			return
		}
		if hash := k.password(r, u.Place, c); hash != "" && u.Password == "" {
			u.Password = hash
		}
	case "otp", "totp", "hotp":
		if key := k.otp(r, u.Place, c); key != nil && u.TOTP == nil {
			u.TOTP = key
		} else if key != nil {
			r.add("authenticator apps", u.Place, "a user has one authenticator app: the first is imported", "")
		}
	case "webauthn":
		r.add("passkeys", u.Place, "a security key that was a second factor after a password is not imported: alone it would be a whole sign-in here", newPasskey)
	case "webauthn-passwordless":
		if key := k.passkey(r, u.Place, c); key != nil {
			u.Passkeys = append(u.Passkeys, *key)
		}
	case "recovery-authn-codes":
		r.add("recovery codes", u.Place, "recovery codes are not imported", "the sign-in flow gives new ones: recovery-codes")
	case "password-history":
	default:
		r.add("credentials", u.Place, fmt.Sprintf("a credential of the type %.40q is not imported", c.Type), "there is no such kind of credential")
	}
}

// keycloakSecret is what SecretData has.
type keycloakSecret struct {
	Value string `json:"value"`
	Salt  string `json:"salt"`
}

// password returns the text of a password hash; "" if it cannot be used.
func (k *keycloak) password(r *Report, at string, c keycloakCredential) string {
	var secret keycloakSecret
	var how struct {
		Iterations int                 `json:"hashIterations"`
		Algorithm  string              `json:"algorithm"`
		Parameters map[string][]string `json:"additionalParameters"`
	}
	err1, err2 := json.Unmarshal([]byte(c.SecretData), &secret), json.Unmarshal([]byte(c.CredentialData), &how)
	key, err3 := decodeBase64(secret.Value)
	salt, err4 := decodeBase64(secret.Salt)
	if strings.HasPrefix(secret.Value, "$2") {
		return hashText(r, at, password.Imported{Scheme: password.Bcrypt, Text: secret.Value})
	}
	if err1 != nil || err2 != nil || err3 != nil || err4 != nil || secret.Value == "" {
		r.add("passwords", at, "secretData or credentialData of the password cannot be read", noPassword)
		return ""
	}
	switch how.Algorithm {
	case "pbkdf2", "pbkdf2-sha1", "":
		return hashText(r, at, password.NewPBKDF2("sha1", how.Iterations, salt, key))
	case "pbkdf2-sha256", "pbkdf2-sha512":
		return hashText(r, at, password.NewPBKDF2(strings.TrimPrefix(how.Algorithm, "pbkdf2-"), how.Iterations, salt, key))
	case "argon2":
		return keycloakArgon2(r, at, how.Iterations, how.Parameters, salt, key)
	}
	r.add("passwords", at, fmt.Sprintf("the hash algorithm %.40q is not supported", how.Algorithm), noPassword)
	return ""
}

func keycloakArgon2(r *Report, at string, iterations int, parameters map[string][]string, salt, key []byte) string {
	first := func(name, fallback string) string {
		if values := parameters[name]; len(values) > 0 {
			return values[0]
		}
		return fallback
	}
	memory, err1 := strconv.Atoi(first("memory", ""))
	lanes, err2 := strconv.Atoi(first("parallelism", "1"))
	schemes := map[string]string{"id": password.Argon2id, "i": password.Argon2i}
	scheme := schemes[first("type", "id")]
	if err1 != nil || err2 != nil || scheme == "" || first("version", "1.3") != "1.3" {
		r.add("passwords", at, "the variant of argon2 is not supported: expected argon2id or argon2i of version 1.3", noPassword)
		return ""
	}
	return hashText(r, at, password.Imported{Scheme: scheme, Rounds: iterations, Memory: memory, Parallelism: lanes, Salt: salt, Key: key})
}

// otp returns the key of an authenticator app; nil if it cannot be used.
func (k *keycloak) otp(r *Report, at string, c keycloakCredential) *totp.Key {
	var secret keycloakSecret
	var how struct {
		SubType   string `json:"subType"`
		Digits    int    `json:"digits"`
		Period    int    `json:"period"`
		Algorithm string `json:"algorithm"`
		Encoding  string `json:"secretEncoding"`
	}
	if json.Unmarshal([]byte(c.SecretData), &secret) != nil || json.Unmarshal([]byte(c.CredentialData), &how) != nil || secret.Value == "" {
		r.add("authenticator apps", at, "secretData or credentialData of the app cannot be read", newApp)
		return nil
	}
	if how.SubType == "hotp" || c.Type == "hotp" {
		r.add("authenticator apps", at, "codes by counter (HOTP) are not supported", newApp)
		return nil
	}
	if how.Encoding != "BASE32" {
		// The secret is a text, and the app has its bytes in base32.
		secret.Value = base32.StdEncoding.EncodeToString([]byte(secret.Value))
	}
	return totpKey(r, at, secret.Value, strings.TrimPrefix(how.Algorithm, "Hmac"), how.Digits, how.Period)
}

// newApp is what to do for a user without a usable authenticator app.
const newApp = "the user sets up an app again: totp-register in the sign-in flow"

// totpKey returns a key for codes of 30 seconds; nil, with a finding, for other apps.
func totpKey(r *Report, at, secret, algorithm string, digits, period int) *totp.Key {
	secret = strings.ToUpper(strings.TrimRight(strings.ReplaceAll(secret, " ", ""), "="))
	key := totp.Key{Secret: secret, Algorithm: strings.ToUpper(algorithm), Digits: digits}
	if key.Algorithm == "" {
		key.Algorithm = totp.SHA1
	}
	if key.Digits == 0 {
		key.Digits = 6
	}
	decoded, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	known := key.Algorithm == totp.SHA1 || key.Algorithm == totp.SHA256 || key.Algorithm == totp.SHA512
	switch {
	case err != nil || len(decoded) == 0:
		r.add("authenticator apps", at, "the secret of the app cannot be read", newApp)
	case period != 0 && time.Duration(period)*time.Second != totp.Period:
		r.add("authenticator apps", at, fmt.Sprintf("codes of %d seconds are not supported, only of 30", period), newApp)
	case !known || key.Digits != 6 && key.Digits != 8:
		r.add("authenticator apps", at, "the algorithm or the number of digits is not supported", newApp)
	default:
		return &key
	}
	return nil
}

// passkey returns a passkey; nil if it cannot be used.
func (k *keycloak) passkey(r *Report, at string, c keycloakCredential) *schemas.Credential {
	var how struct {
		AAGUID     string   `json:"aaguid"`
		ID         string   `json:"credentialId"`
		Count      uint32   `json:"counter"`
		PublicKey  string   `json:"credentialPublicKey"`
		Transports []string `json:"transports"`
	}
	err := json.Unmarshal([]byte(c.CredentialData), &how)
	id, err1 := decodeBase64(how.ID)
	cose, err2 := decodeBase64(how.PublicKey)
	rp := k.realm.PasskeyRP
	if rp == "" {
		rp = k.FormerHost
	}
	if err != nil || err1 != nil || err2 != nil || len(id) == 0 {
		r.add("passkeys", at, "credentialData of the passkey cannot be read", newPasskey)
		return nil
	}
	algorithm, err := passkey.KeyAlgorithm(cose)
	switch {
	case err != nil:
		r.add("passkeys", at, "the public key of the passkey is not supported", newPasskey)
	case rp == "":
		r.add("passkeys", at, "the realm has no relying party ID, so it is the host of Keycloak, which the export does not contain", "pass it with --former-host login.example.com")
	case rp != k.RPID:
		r.add("passkeys", at, fmt.Sprintf("the passkey works only for the relying party %.100q, and this server is %.100q", rp, k.RPID),
			"set passkey.relying_party_id to it, if the server has an address below it; otherwise "+newPasskey)
	default:
		return &schemas.Credential{ID: id, Name: passkeyName(c.UserLabel), RPID: rp, PublicKey: cose, Algorithm: algorithm, AttestationFormat: passkey.ImportedFormat,
			AAGUID: aaguidText(how.AAGUID), Transports: how.Transports, SignCount: how.Count, UserVerified: true, CreatedAt: millis(int64(c.Created))}
	}
	return nil
}

// newPasskey is what to do for a user without a usable passkey.
const newPasskey = "the user adds a passkey after the next sign-in: passkey-register with optional: true"

func millis(at int64) time.Time {
	if at <= 0 {
		return time.Time{}
	}
	return time.UnixMilli(at).UTC()
}

func passkeyName(label string) string {
	if label = strings.TrimSpace(label); label == "" || len(label) > 200 {
		return "Passkey"
	}
	return label
}

func aaguidText(text string) string {
	if len(text) != 36 {
		return "00000000-0000-0000-0000-000000000000"
	}
	return strings.ToLower(text)
}

// decodeBase64 decodes both alphabets, with padding or without.
func decodeBase64(text string) ([]byte, error) {
	text = strings.NewReplacer("-", "+", "_", "/").Replace(strings.TrimRight(strings.TrimSpace(text), "="))
	return base64.RawStdEncoding.DecodeString(text)
}
