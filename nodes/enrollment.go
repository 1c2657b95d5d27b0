package nodes

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/postern-id/postern/internal/totp"
	"github.com/postern-id/postern/schemas"
)

// offerTTL is how long an offered factor can be accepted.
const offerTTL = 15 * time.Minute

// Enrollment offers second factors outside of flows, as totp-register and recovery-codes do in
// them. An offer is sealed into its token, so nothing is stored until the user accepts it.
type Enrollment struct {
	Box  Cipher
	Name string // that the app shows for this server
}

// offer is the content of a token: a key or the hashes of codes.
type offer struct {
	Key       *totp.Key `json:"key,omitempty"`
	Hashes    [][]byte  `json:"hashes,omitempty"`
	ExpiresAt time.Time `json:"expiresAt"`
}

func (e Enrollment) seal(userID string, o offer) string {
	return base64.RawURLEncoding.EncodeToString(e.Box.Seal(must(json.Marshal(o)), offerOwner(userID)))
}

// open fails with the code stale_session_token.
func (e Enrollment) open(userID, token string, now time.Time) (o offer, err error) {
	sealed, err := base64.RawURLEncoding.DecodeString(token)
	if err == nil {
		sealed, err = e.Box.Open(sealed, offerOwner(userID))
	}
	if err == nil {
		err = json.Unmarshal(sealed, &o)
	}
	if err != nil || !now.Before(o.ExpiresAt) {
		return offer{}, schemas.Errorf(schemas.Invalid, schemas.CodeStaleSession,
			"the session token is invalid, belongs to another user, or is older than %d minutes: start again", int(offerTTL.Minutes()))
	}
	return o, nil
}

// offerOwner binds an offer to its user. No stored key has such an owner: see TOTPOwner.
func offerOwner(userID string) string { return "offer of " + userID }

// OfferTOTP returns a new key for an authenticator app of the user.
func (e Enrollment) OfferTOTP(u *schemas.User, now time.Time) (schemas.TOTPOffer, error) {
	key := totp.New(totp.SHA1, 6)
	uri := key.URI(cmp.Or(e.Name, "Postern"), cmp.Or(u.AccountName(), u.ID))
	picture, err := totp.QRCode(uri)
	token := e.seal(u.ID, offer{Key: &key, ExpiresAt: now.Add(offerTTL)})
	return schemas.TOTPOffer{URI: uri, Secret: key.Secret, QRCode: picture, SessionToken: token}, err
}

// AcceptTOTP returns the authenticator app of an offer. The code proves that the app has the key; a
// wrong one is Class Invalid, with a problem at code.
func (e Enrollment) AcceptTOTP(userID, token, code string, now time.Time) (*schemas.TOTP, error) {
	o, err := e.open(userID, token, now)
	if err != nil {
		return nil, err
	}
	if o.Key == nil {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeStaleSession, "the session token is not one for an authenticator app: start again")
	}
	step, ok, err := o.Key.Verify(strings.ReplaceAll(code, " ", ""), now, 0)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, schemas.Errorf(schemas.Invalid, schemas.CodeInvalidRequest, "the code is not the current one of the key").
			WithProblems([]schemas.Problem{{Path: "code", Message: wrongFirstCode}})
	}
	app := SealTOTP(e.Box, *o.Key, userID)
	app.LastStep, app.CreatedAt = step, now
	return &app, nil
}

// OfferRecoveryCodes returns new recovery codes for the user.
func (e Enrollment) OfferRecoveryCodes(userID string, now time.Time) schemas.RecoveryCodesOffer {
	codes := newCodes()
	return schemas.RecoveryCodesOffer{Codes: codes, SessionToken: e.seal(userID, offer{Hashes: hashCodes(codes), ExpiresAt: now.Add(offerTTL)})}
}

// AcceptRecoveryCodes returns the hashes of the codes of an offer.
func (e Enrollment) AcceptRecoveryCodes(userID, token string, now time.Time) ([][]byte, error) {
	o, err := e.open(userID, token, now)
	if err == nil && len(o.Hashes) == 0 {
		err = schemas.Errorf(schemas.Invalid, schemas.CodeStaleSession, "the session token is not one for recovery codes: start again")
	}
	return o.Hashes, err
}
