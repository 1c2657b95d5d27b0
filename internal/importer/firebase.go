package importer

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/password"
)

// firebase is the output of `firebase auth:export`: JSON or CSV.
type firebase struct {
	Options
	files  []string
	config firebaseHash
}

// firebaseHash are the password hash parameters of a project.
type firebaseHash struct {
	algorithm            string
	signerKey, separator []byte
	rounds, memory       int
	saltLast             bool
	blockSize, parallel  int
}

// firebaseUser is a user of the JSON export.
type firebaseUser struct {
	ID            string `json:"localId"`
	Email         string `json:"email"`
	EmailVerified bool   `json:"emailVerified"`
	Hash          string `json:"passwordHash"`
	Salt          string `json:"salt"`
	Name          string `json:"displayName"`
	Photo         string `json:"photoUrl"`
	Phone         string `json:"phoneNumber"`
	Created       string `json:"createdAt"` // milliseconds
	Disabled      bool   `json:"disabled"`
	Claims        string `json:"customAttributes"` // JSON
	Providers     []struct {
		ID    string `json:"providerId"`
		RawID string `json:"rawId"`
		Email string `json:"email"`
	} `json:"providerUserInfo"`
	MFA []json.RawMessage `json:"mfaInfo"`
}

func openFirebase(dir string, o Options) (Source, error) {
	files, err := filesIn(dir, "*.json", "*.csv")
	if err != nil {
		return nil, err
	}
	f := &firebase{Options: o, files: files}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no file: expected the output of `firebase auth:export users.json`", dir)
	}
	path := o.HashConfig
	if info, err := os.Stat(dir); path == "" && err == nil && info.IsDir() {
		path = filepath.Join(dir, "hash_config.txt")
	}
	if path == "" {
		return f, nil
	}
	text, err := readFile(path)
	if errors.Is(err, os.ErrNotExist) && o.HashConfig == "" {
		return f, nil
	}
	if err == nil {
		f.config, err = parseHashConfig(string(text))
	}
	return f, err
}

var hashParameter = regexp.MustCompile(`([a-z0-9_]+)\s*[:=]\s*"?([^\s",}]+)"?`)

// parseHashConfig reads the parameters as the Firebase console shows them: hash_config { … }.
func parseHashConfig(text string) (c firebaseHash, err error) {
	values := map[string]string{}
	for _, m := range hashParameter.FindAllStringSubmatch(text, -1) {
		values[m[1]] = m[2]
	}
	number := func(name string) int {
		n, wrong := strconv.Atoi(firstText(values[name], "0"))
		err = errors.Join(err, wrong)
		return n
	}
	c.algorithm = strings.ToUpper(values["algorithm"])
	c.rounds, c.memory, c.blockSize, c.parallel = number("rounds"), number("mem_cost"), number("block_size"), number("parallelization")
	c.saltLast = strings.EqualFold(values["hash_input_order"], "PASSWORD_FIRST")
	var err1, err2 error
	c.signerKey, err1 = decodeBase64(values["base64_signer_key"])
	c.separator, err2 = decodeBase64(values["base64_salt_separator"])
	if err != nil || err1 != nil || err2 != nil || c.algorithm == "" {
		return c, errors.New("the password hash parameters cannot be read: expected hash_config { algorithm: SCRYPT, base64_signer_key: …, base64_salt_separator: …, rounds: 8, mem_cost: 14 }, as the Firebase console shows them")
	}
	return c, nil
}

// Resources implements Source. An export has only users.
func (f *firebase) Resources(r *Report) (*Resources, error) {
	if f.config.algorithm == "" {
		r.add("passwords", "", "the password hash parameters are missing, so no password can be imported", "copy them from the Firebase console (Authentication, Users, Password hash parameters) to a file, and pass it with --hash-config")
	}
	r.add("clients", "", "an export of Firebase has no clients, roles or flows", "create an application for each app, and choose a sign-in flow (docs/migration.md)")
	return &Resources{Name: f.Name}, nil
}

// Users implements Source.
func (f *firebase) Users(r *Report, each func(*User) error) error {
	for _, file := range f.files {
		err := withFile(file, func(in *positions) error {
			in.track()
			if strings.HasSuffix(file, ".csv") {
				return f.readCSV(in, func(at string, u *firebaseUser) error { return each(f.user(r, u, place(file, at, u.ID))) })
			}
			d := newDecoder(in)
			return eachMember(d, func(name string) error {
				if name != "users" {
					return skipValue(d)
				}
				users := records[firebaseUser]{report: r, subject: "users", file: file, in: in, path: "users", unread: unreadMembers{r, []string{"users.lastSignedInAt", "users.passwordUpdatedAt", "users.validSince", "users.tenantId"}}}
				return users.each(d, func(at string, u *firebaseUser) error { return each(f.user(r, u, place(file, at, u.ID))) })
			})
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// readCSV reads the CSV export, whose columns have fixed positions: UID, email, email verified, hash,
// salt, name, photo, four columns each for Google, Facebook, Twitter and GitHub, created, last sign-in,
// phone.
func (f *firebase) readCSV(in io.Reader, each func(at string, u *firebaseUser) error) error {
	records := csv.NewReader(in)
	records.FieldsPerRecord = -1
	for {
		row, err := records.Read()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		row = append(row, make([]string, 27)...)
		u := &firebaseUser{ID: row[0], Email: row[1], EmailVerified: row[2] == "true", Hash: row[3], Salt: row[4], Name: row[5], Photo: row[6], Created: row[23], Phone: row[25]}
		for j, provider := range []string{"google.com", "facebook.com", "twitter.com", "github.com"} {
			if id := row[7+4*j]; id != "" {
				u.Providers = append(u.Providers, struct {
					ID    string `json:"providerId"`
					RawID string `json:"rawId"`
					Email string `json:"email"`
				}{provider, id, row[9+4*j]})
			}
		}
		if err := each(rowPosition(records, nil), u); err != nil {
			return err
		}
	}
}

func (f *firebase) user(r *Report, in *firebaseUser, at string) *User {
	u := &User{ForeignID: in.ID, ID: idOf("firebase", f.Name, "user", in.ID), Place: at, Attributes: map[string]any{}, Others: map[string]any{}, Disabled: in.Disabled}
	if ms, err := strconv.ParseInt(in.Created, 10, 64); err == nil && ms > 0 {
		u.CreatedAt = time.UnixMilli(ms).UTC()
	}
	for name, text := range map[string]string{"email": in.Email, "name": in.Name, "picture": in.Photo, "phone_number": in.Phone} {
		setText(u.Attributes, name, text)
	}
	if in.EmailVerified && in.Email != "" {
		u.Attributes["email_verified"] = true
	}
	if in.Phone != "" {
		u.Attributes["phone_number_verified"] = true // Firebase has only verified ones
	}
	nameUser(u.Attributes)
	if u.Attributes["username"] == nil && in.Phone != "" {
		u.Attributes["username"] = strings.TrimPrefix(in.Phone, "+")
		r.add("users", at, "the user has only a phone number, which becomes the username: codes by SMS are not supported", newPasskey)
	}
	if in.Claims != "" && in.Claims != "{}" {
		r.add("users", at, "custom claims are not imported", "use roles or attributes of a user type")
	}
	if len(in.MFA) > 0 {
		r.add("second factors", at, "second factors are not imported: the export has no secrets of apps, and codes by SMS are not supported", newApp)
	}
	for _, p := range in.Providers {
		if p.ID != "password" && p.ID != "phone" {
			u.Identities = append(u.Identities, Identity{Provider: slug(p.ID), Subject: p.RawID, Name: p.Email})
		}
	}
	f.addPassword(r, u, in)
	return u
}

func (f *firebase) addPassword(r *Report, u *User, in *firebaseUser) {
	if in.Hash == "" || f.config.algorithm == "" {
		if len(u.Identities) == 0 {
			r.add("passwords", u.Place, "there is no password hash of the user", noPassword)
		}
		return
	}
	key, err1 := decodeBase64(in.Hash)
	salt, err2 := decodeBase64(in.Salt)
	if err1 != nil || err2 != nil {
		r.add("passwords", u.Place, "the hash or the salt is not base64", noPassword)
		return
	}
	h, err := f.config.hash(key, salt)
	if err != nil {
		r.add("passwords", u.Place, err.Error(), noPassword)
		return
	}
	u.Password = hashText(r, u.Place, h)
}

// hash returns a hash with the parameters of the project.
func (c firebaseHash) hash(key, salt []byte) (h password.Imported, err error) {
	salted := append(append([]byte(nil), salt...), c.separator...)
	family, function, _ := strings.Cut(c.algorithm, "_")
	switch {
	case c.algorithm == "SCRYPT":
		return password.NewFirebaseScrypt(c.signerKey, salted, c.rounds, c.memory, key), nil
	case c.algorithm == "STANDARD_SCRYPT":
		return newScrypt(c.memory, c.blockSize, max(1, c.parallel), salted, key)
	case c.algorithm == "BCRYPT":
		return password.Imported{Scheme: password.Bcrypt, Text: string(key)}, nil
	case c.algorithm == "PBKDF_SHA1", c.algorithm == "PBKDF2_SHA256":
		return password.NewPBKDF2(strings.ToLower(function), c.rounds, salted, key), nil
	case family == "HMAC":
		return password.Imported{Scheme: password.HMAC, Hash: strings.ToLower(function), Rounds: 1, SaltLast: c.saltLast, Salt: salted, Secret: c.signerKey, Key: key}, nil
	case c.algorithm == "MD5", c.algorithm == "SHA1", c.algorithm == "SHA256", c.algorithm == "SHA512":
		return password.Imported{Scheme: password.Digest, Hash: strings.ToLower(c.algorithm), Rounds: max(1, c.rounds), SaltLast: c.saltLast, Salt: salted, Key: key}, nil
	}
	return h, fmt.Errorf("the hash algorithm %.40q is not supported", c.algorithm)
}
