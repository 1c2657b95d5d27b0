package passkey_test

import (
	"context"
	"fmt"
	"time"

	"github.com/postern-id/postern/internal/passkey"
	"github.com/postern-id/postern/internal/passkey/passkeytest"
	"github.com/postern-id/postern/schemas"
)

// A passkey is registered and then used without a user name. The software authenticator
// replaces the browser.
func Example() {
	ceremonies, err := passkey.New(passkey.Config{Origins: []string{"https://login.example.com"}, RPID: "example.com"})
	if err != nil {
		panic(err)
	}
	browser := passkeytest.New()

	options, session, err := ceremonies.BeginRegistration(passkey.RegistrationRequest{
		User: passkey.User{ID: "01890a5d-ac96-774b-bcce-b302099a8057", Name: "alice"},
	})
	if err != nil {
		panic(err)
	}
	attestation, err := browser.Register(options, "https://login.example.com")
	if err != nil {
		panic(err)
	}
	credential, err := ceremonies.FinishRegistration(session, attestation, time.Now())
	if err != nil {
		panic(err)
	}
	fmt.Println("registered:", credential.Name, "for", credential.RPID)

	options, session, err = ceremonies.BeginAuthentication(passkey.AuthenticationRequest{})
	if err != nil {
		panic(err)
	}
	assertion, err := browser.Authenticate(options, "https://login.example.com")
	if err != nil {
		panic(err)
	}
	find := func(context.Context, schemas.Bytes) (*schemas.Credential, error) { return credential, nil }
	verified, err := ceremonies.FinishAuthentication(context.Background(), session, assertion, find, time.Now())
	if err != nil {
		panic(err)
	}
	fmt.Println("authenticated:", verified.UserID, verified.Methods, verified.ACR)

	// Output:
	// registered: Passkey for example.com
	// authenticated: 01890a5d-ac96-774b-bcce-b302099a8057 [pop user mfa] urn:postern:acr:mfa-phr
}
