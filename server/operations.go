package server

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/postern-id/postern/flows/chains"
	"github.com/postern-id/postern/internal/directory"
	"github.com/postern-id/postern/internal/signins"
	"github.com/postern-id/postern/schemas"
	"github.com/postern-id/postern/server/oauth"
	"github.com/postern-id/postern/server/openapi"
)

// The groups of operations.
const (
	groupSignIn  = "Sign-in"
	groupOAuth   = "OAuth 2.1 and OpenID Connect"
	groupAccount = "Accounts and credentials"
	groupFlows   = "Flows"
	groupService = "Service"
)

// operations describes the endpoints other than those of nounEndpoints, by method and path. Those
// of a part of a user are described once, for /users/{id}.
func operations() map[string]openapi.Operation {
	all := map[string]openapi.Operation{}
	for _, part := range []map[string]openapi.Operation{signInOperations(), oauthOperations(), metadataOperations(), accountOperations(), partOperations(), serviceOperations()} {
		for endpoint, o := range part {
			all[endpoint] = o
		}
	}
	return all
}

func signInOperations() map[string]openapi.Operation {
	return map[string]openapi.Operation{
		"POST /flow/execute": {ID: "executeFlow", Summary: "Start a run, answer its step, or get the step again", Group: groupSignIn,
			Body: openapi.Body{Type: executeBody{}}, Reply: schemas.Step{}},
		"GET /flow/meta": {ID: "getFlowMeta", Summary: "Get what a sign-in page shows before it starts a run", Group: groupSignIn,
			Query: []openapi.Parameter{
				{Name: "id", Description: "the id of the application"}, {Name: "type", Description: "APP"}, {Name: "language", Description: "a language tag (BCP 47)"},
			}, Reply: meta{}},
		"POST /auth/passkey/start": {ID: "startPasskeyAuthentication", Summary: "Start a sign-in with a passkey", Group: groupSignIn,
			Body: openapi.Body{Type: authenticationStart{}}, Reply: authenticationOptions{}},
		"POST /auth/passkey/finish": {ID: "finishPasskeyAuthentication", Summary: "Finish a sign-in with a passkey", Group: groupSignIn,
			Body: openapi.Body{Type: authenticationFinish{}, Required: []string{"publicKeyCredential", "sessionToken"}}, Reply: authenticated{}},
		"POST /register/passkey/start": {ID: "startPasskeyRegistration", Summary: "Start the registration of a passkey", Group: groupAccount,
			Body: openapi.Body{Type: registrationStart{}, Required: []string{"userId"}}, Reply: registrationOptions{}},
		"POST /register/passkey/finish": {ID: "finishPasskeyRegistration", Summary: "Finish the registration of a passkey", Group: groupAccount,
			Body: openapi.Body{Type: registrationFinish{}, Required: []string{"publicKeyCredential", "sessionToken"}}, Reply: registeredPasskey{}},
	}
}

// clientForm is the form of an endpoint where a client authenticates (RFC 6749 §2.3.1, RFC 7523
// §2.2). A client can use HTTP Basic authentication instead.
type clientForm struct {
	ClientID            string `json:"client_id,omitempty"`
	ClientSecret        string `json:"client_secret,omitempty"`
	ClientAssertionType string `json:"client_assertion_type,omitempty"`
	ClientAssertion     string `json:"client_assertion,omitempty"`
}

// tokenForm is the form of POST /oauth2/token.
type tokenForm struct {
	clientForm
	GrantType    string `json:"grant_type"`
	Code         string `json:"code,omitempty"`
	RedirectURI  string `json:"redirect_uri,omitempty"`
	CodeVerifier string `json:"code_verifier,omitempty"`
	RefreshToken string `json:"refresh_token,omitempty"`
	Scope        string `json:"scope,omitempty"`
	Resource     string `json:"resource,omitempty"`
}

// tokenReply is the reply of POST /oauth2/token (RFC 6749 §5.1, OpenID Connect Core §3.1.3.3).
type tokenReply struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int    `json:"expires_in"`
	RefreshToken string `json:"refresh_token,omitempty"`
	IDToken      string `json:"id_token,omitempty"`
	Scope        string `json:"scope,omitempty"`
}

// oneToken is the form of POST /oauth2/introspect and POST /oauth2/revoke.
type oneToken struct {
	clientForm
	Token         string `json:"token"`
	TokenTypeHint string `json:"token_type_hint,omitempty"`
}

// members is the reply of an endpoint whose specification lets it have any members.
type members map[string]any

func oauthOperations() map[string]openapi.Operation {
	list := map[string]openapi.Operation{
		"POST " + oauth.TokenPath: {ID: "requestToken", Summary: "Exchange a code, a refresh token or the client's credentials for tokens (RFC 6749 §3.2)",
			Body: openapi.Body{Type: tokenForm{}, Required: []string{"grant_type"}, Form: true}, Reply: tokenReply{}},
		"POST " + oauth.IntrospectPath: {ID: "introspectToken", Summary: "Introspect a token (RFC 7662)",
			Body: openapi.Body{Type: oneToken{}, Required: []string{"token"}, Form: true}, Reply: members{}},
		"POST " + oauth.RevokePath: {ID: "revokeToken", Summary: "Revoke a token (RFC 7009)",
			Body: openapi.Body{Type: oneToken{}, Required: []string{"token"}, Form: true}},
		"POST " + oauth.RegisterPath: {ID: "registerClient", Summary: "Register a client (RFC 7591); without a token where registration is open",
			Body: openapi.Body{Type: members{}}, Reply: members{}, Status: http.StatusCreated},
		"GET " + oauth.AuthorizePath: {ID: "authorize", Summary: "Start an authorization request in the browser (RFC 6749 §4.1.1)",
			Query: authorizeParameters(), Status: http.StatusFound},
		"POST " + oauth.AuthorizePath: {ID: "authorizeByForm", Summary: "Start an authorization request in the browser, with a form",
			Body: openapi.Body{Type: members{}, Form: true}, Status: http.StatusSeeOther},
		"GET " + oauth.CallbackPath: {ID: "continueAuthorization", Summary: "Continue an authorization request in the browser after a redirect",
			Query: []openapi.Parameter{{Name: "state"}, {Name: "code"}, {Name: "error"}, {Name: "iss"}}, Status: http.StatusSeeOther},
		"POST " + oauth.CallbackPath: {ID: "answerAuthorization", Summary: "Answer an authorization request with the assertion of a run",
			Body: openapi.Body{Type: callbackRequest{}, Required: []string{"authId", "assertion"}}, Reply: members{}},
		"GET " + oauth.LogoutPath:   {ID: "logout", Summary: "End the session of the browser (OpenID Connect RP-Initiated Logout)", Query: logoutParameters(), Status: http.StatusFound},
		"POST " + oauth.LogoutPath:  {ID: "logoutByForm", Summary: "End the session of the browser, with a form", Body: openapi.Body{Type: members{}, Form: true}, Status: http.StatusFound},
		"GET " + oauth.LogoutAlias:  {ID: "logoutAlias", Summary: "The same as " + oauth.LogoutPath, Query: logoutParameters(), Status: http.StatusFound},
		"POST " + oauth.LogoutAlias: {ID: "logoutAliasByForm", Summary: "The same as " + oauth.LogoutPath + ", with a form", Body: openapi.Body{Type: members{}, Form: true}, Status: http.StatusFound},
		"GET " + oauth.UserInfoPath: {ID: "getUserInfo", Summary: "Get the claims of the token's user (OpenID Connect Core §5.3)", Needs: openapi.Need{Token: true}, Reply: members{}},
		"GET " + oauth.ClaimsPath + "/{document}": {ID: "getDistributedClaims", Summary: "Get the claims that are too long for a token (OpenID Connect Core §5.6.2), as a JWT", Needs: openapi.Need{Token: true},
			Query: []openapi.Parameter{{Name: "resource"}}},
		"POST " + oauth.UserInfoPath: {ID: "postUserInfo", Summary: "Get the claims of the token's user, with POST", Needs: openapi.Need{Token: true}, Reply: members{}},
	}
	for endpoint, o := range list {
		o.Group, o.OAuth = groupOAuth, true
		list[endpoint] = o
	}
	return list
}

// callbackRequest is the body of POST /oauth2/auth/callback.
type callbackRequest struct {
	AuthID    string `json:"authId"`
	Assertion string `json:"assertion"`
}

func authorizeParameters() (list []openapi.Parameter) {
	for _, name := range []string{"client_id", "redirect_uri", "response_type", "scope", "state", "nonce", "code_challenge", "code_challenge_method",
		"response_mode", "claims", "prompt", "max_age", "acr_values", "login_hint", "id_token_hint", "ui_locales", "resource"} {
		list = append(list, openapi.Parameter{Name: name, Integer: name == "max_age"})
	}
	return list
}

func logoutParameters() []openapi.Parameter {
	return []openapi.Parameter{{Name: "id_token_hint"}, {Name: "client_id"}, {Name: "post_logout_redirect_uri"}, {Name: "state"}, {Name: "ui_locales"}}
}

func metadataOperations() map[string]openapi.Operation {
	list := map[string]openapi.Operation{
		"GET " + oauth.OpenIDPath:                     {ID: "getOpenIDConfiguration", Summary: "Get the metadata of the provider (OpenID Connect Discovery §4)"},
		"GET " + oauth.ServerPath:                     {ID: "getServerMetadata", Summary: "Get the metadata of the authorization server (RFC 8414)"},
		"GET " + oauth.ResourcePath:                   {ID: "getResourceMetadata", Summary: "Get the metadata of this API as a protected resource (RFC 9728)"},
		"GET " + oauth.ResourcePath + oauth.ToolsPath: {ID: "getToolsMetadata", Summary: "Get the metadata of the MCP tools as a protected resource (RFC 9728)"},
		"GET " + oauth.KeysPath:                       {ID: "getKeys", Summary: "Get the public keys that verify tokens (RFC 7517)"},
		"GET /.well-known/webauthn":                   {ID: "getRelatedOrigins", Summary: "Get the origins that may use the passkeys (WebAuthn Level 3 §5.11)"},
		"GET /.well-known/passkey-endpoints":          {ID: "getPasskeyEndpoints", Summary: "Get the pages where users add and manage passkeys"},
	}
	for endpoint, o := range list {
		o.Group, o.Reply = groupOAuth, members{}
		list[endpoint] = o
	}
	return list
}

func accountOperations() map[string]openapi.Operation {
	list := map[string]openapi.Operation{
		"GET /users/me":                                {ID: "getMe", Summary: "Get the user of the token", Reply: openapi.Ref("User")},
		"DELETE /users/me":                             {ID: "deleteMe", Summary: "Delete the account of the token's user"},
		"GET /users/me/export":                         {ID: "exportMe", Summary: "Export the data of the account of the token's user, without secrets", Reply: members{}},
		"GET /users/me/profile":                        {ID: "getProfile", Summary: "Get the attributes that the token's user can change", Reply: directory.Profile{}},
		"PATCH /users/me/profile":                      {ID: "updateProfile", Summary: "Change attributes of the token's user (JSON Merge Patch)", Body: openapi.Body{Type: members{}}, Reply: directory.Profile{}},
		"PUT /users/me/password":                       {ID: "setPassword", Summary: "Set the password of the token's user", Body: openapi.Body{Type: passwordBody{}, Required: []string{"password"}}, Reply: formerResponse{}, Empty: "The password was set, and former passwords have added nothing."},
		"POST /users/me/former-password":               {ID: "decideFormer", Summary: "Keep or remove what former passwords alone have added", Body: openapi.Body{Type: formerBody{}}, Reply: formerResponse{}},
		"DELETE /users/me/password":                    {ID: "removePassword", Summary: "Remove the password of the token's user"},
		"POST /users/me/factors/totp/start":            {ID: "startTOTP", Summary: "Get a key for an authenticator app of the token's user", Reply: schemas.TOTPOffer{}},
		"POST /users/me/factors/totp/finish":           {ID: "finishTOTP", Summary: "Set up the authenticator app with its first code", Body: openapi.Body{Type: totpFinish{}, Required: []string{"sessionToken", "code"}}},
		"POST /users/me/factors/recovery-codes/start":  {ID: "startRecoveryCodes", Summary: "Get new recovery codes for the token's user", Reply: schemas.RecoveryCodesOffer{}},
		"POST /users/me/factors/recovery-codes/finish": {ID: "finishRecoveryCodes", Summary: "Replace all recovery codes with the new ones", Body: openapi.Body{Type: recoveryCodesFinish{}, Required: []string{"sessionToken"}}},
		"POST /account/lock":                           {ID: "lockAccount", Summary: "Lock an account with the link from a notice", Body: openapi.Body{Type: lockRequest{}, Required: []string{"token"}}},
		"DELETE /users/{id}/failed-guesses":            {ID: "forgetFailedGuesses", Summary: "Forget the failed sign-ins that limit further ones"},
		"GET /users/{id}/sign-in-attempts":             {ID: "explainSignIns", Summary: "Explain why the user could not sign in: the state of the account, and the latest attempts", Reply: signins.Report{}},
		"GET /users/{id}/access":                       {ID: "getAccess", Summary: "Get the groups and roles of the user", Reply: directory.Access{}},
		"GET /users/{id}/applications":                 {ID: "listApplicationsOfUser", Summary: "List the applications to which the user may sign in", Query: pageParameters(), Reply: openapi.List{Plural: "applications", Item: admittingResponse{}}},
		"GET /users/{id}/invitation":                   {ID: "getInvitation", Summary: "Get the invitation that the user can still accept", Reply: directory.Invitation{}},
		"POST /users/{id}/invitation": {ID: "inviteUser", Summary: "Mail the user a link to add a first credential; without system:users:read, the reply lacks the address",
			Body: openapi.Body{Type: invitationBody{}, Required: []string{"applicationId"}}, Status: 201, Reply: sentInvitation{}},
		"DELETE /users/{id}/invitation":                   {ID: "withdrawInvitation", Summary: "Withdraw the invitation"},
		"GET /users/{id}/profile":                         {ID: "getUserProfile", Summary: "Get the attributes that the user can change, and whether the user has a password", Reply: directory.Profile{}},
		"GET /users/{id}/passkeys":                        {ID: "list Passkeys", Summary: "List the passkeys", Query: pageParameters(), Reply: openapi.List{Plural: "passkeys", Item: passkeyResponse{}}},
		"PATCH /users/{id}/passkeys/{credentialId}":       {ID: "rename Passkey", Summary: "Rename a passkey", Body: openapi.Body{Type: renameBody{}, Required: []string{"name"}}, Reply: passkeyResponse{}, Concealable: true},
		"DELETE /users/{id}/passkeys/{credentialId}":      {ID: "delete Passkey", Summary: "Delete a passkey"},
		"GET /users/{id}/factors":                         {ID: "list Factors", Summary: "List the second factors", Query: pageParameters(), Reply: openapi.List{Plural: "factors", Item: factorResponse{}}},
		"DELETE /users/{id}/factors/{factor}":             {ID: "delete Factor", Summary: "Delete a second factor"},
		"GET /users/{id}/former-password":                 {ID: "list FormerAdditions", Summary: "List what was added with former passwords alone", Query: pageParameters(), Reply: openapi.List{Plural: formerPlural, Item: schemas.Addition{}}},
		"GET /users/{id}/identities":                      {ID: "list Identities", Summary: "List the linked external identities", Query: pageParameters(), Reply: openapi.List{Plural: "identities", Item: identityResponse{}}},
		"DELETE /users/{id}/identities/{identityId}":      {ID: "delete Identity", Summary: "Unlink an external identity"},
		"GET /users/{id}/attribute-owners":                {ID: "list AttributeOwners", Summary: "List the owners of attributes, which alone can change them", Query: pageParameters(), Reply: openapi.List{Plural: ownersPlural, Item: schemas.AttributeOwner{}}},
		"PUT /users/{id}/attribute-owners/{attribute}":    {ID: "setAttributeOwner", Summary: "Set the owner of an attribute", Body: openapi.Body{Type: ownerBody{}, Required: []string{"owner"}}, Reply: schemas.AttributeOwner{}},
		"DELETE /users/{id}/attribute-owners/{attribute}": {ID: "releaseAttribute", Summary: "Release an attribute from its owner"},
		"GET /users/{id}/sessions":                        {ID: "list Sessions", Summary: "List the sessions", Query: pageParameters(), Reply: openapi.List{Plural: "sessions", Item: sessionResponse{}}},
		"DELETE /users/{id}/sessions": {ID: "end Sessions", Summary: "End all sessions except that of the token", Reply: struct {
			Ended int `json:"ended"`
		}{}},
		"DELETE /users/{id}/sessions/{sid}":           {ID: "end Session", Summary: "End a session"},
		"GET /users/{id}/consents":                    {ID: "list Consents", Summary: "List the consents of the user", Query: pageParameters(), Reply: openapi.List{Plural: "consents", Item: consentResponse{}}},
		"DELETE /users/{id}/consents/{applicationId}": {ID: "revoke Consent", Summary: "Revoke the consent for a client"},
		"DELETE /identity-providers/{id}/identities": {ID: "unlinkProvider", Summary: "Unlink all identities of an identity provider", Reply: struct {
			Unlinked int `json:"unlinked"`
		}{}},
	}
	for endpoint, o := range list {
		o.Group = groupAccount
		list[endpoint] = o
	}
	return list
}

// secretReply is the reply of POST /applications/{id}/client-secret.
type secretReply struct {
	ClientID     string `json:"clientId"`
	ClientSecret string `json:"clientSecret"`
	// FormerSecretExpiresAt is until when the former secret works; zero if it does not.
	FormerSecretExpiresAt time.Time `json:"formerSecretExpiresAt,omitzero"`
}

func partOperations() map[string]openapi.Operation {
	principals := append(pageParameters(), openapi.Parameter{Name: "after", Description: "the cursor of a next link"})
	return map[string]openapi.Operation{
		"GET /applications/{id}/claims": {ID: "explainClaims", Summary: "Show what the application learns about a user, and why", Group: "Applications",
			Query: []openapi.Parameter{{Name: "user"}, {Name: "scope"}}, Reply: directory.ClaimsReport{}},
		"POST /applications/{id}/client-secret": {ID: "rotateClientSecret", Summary: "Replace the client secret. The old one works for the overlap, in seconds; revokeTokens is for a leaked one", Group: "Applications", Body: openapi.Body{Type: secretRotation{}, Optional: true}, Reply: secretReply{}},
		"POST /applications/{id}/revoke-tokens": {ID: "revokeTokensOfApplication", Summary: "Revoke all tokens of an application", Group: "Applications"},
		"POST /revoke-tokens": {ID: "revokeAllTokens", Summary: "Revoke all tokens of all applications", Group: groupService, Reply: struct {
			Applications int `json:"applications"`
		}{}},
		"GET /groups/{id}/members":                            {ID: "listMembers", Summary: "List the members of a group", Group: "Groups", Query: principals, Reply: openapi.List{Plural: "members", Item: schemas.Principal{}}},
		"PUT /groups/{id}/members/{type}/{principalId}":       {ID: "addMember", Summary: "Add a member", Group: "Groups", Reply: openapi.Ref("Group"), Concealable: true},
		"DELETE /groups/{id}/members/{type}/{principalId}":    {ID: "removeMember", Summary: "Remove a member", Group: "Groups", Reply: openapi.Ref("Group"), Concealable: true},
		"GET /roles/{id}/assignments":                         {ID: "listAssignments", Summary: "List the principals of a role", Group: "Roles", Query: principals, Reply: openapi.List{Plural: "assignments", Item: schemas.Principal{}}},
		"PUT /roles/{id}/assignments/{type}/{principalId}":    {ID: "assignRole", Summary: "Assign a role", Group: "Roles", Reply: openapi.Ref("Role"), Concealable: true},
		"DELETE /roles/{id}/assignments/{type}/{principalId}": {ID: "unassignRole", Summary: "Remove the assignment of a role", Group: "Roles", Reply: openapi.Ref("Role"), Concealable: true},
		"POST /flows/check":                                   {ID: "checkFlow", Summary: "Check the definition of a flow without storing it", Group: groupFlows, Body: openapi.Body{Type: members{}}, Reply: checkResult{}},
		"POST /flows/batch":                                   {ID: "storeFlows", Summary: "Store several flows, all or none", Group: groupFlows, Query: reasonParameter(), Body: openapi.Body{Type: batchBody{}, Required: []string{"flows"}}, Reply: batchReply{}},
		"GET /flows/system":                                   {ID: "getCheckedSystem", Summary: "Get the data that the check of a flow depends on", Group: groupFlows, Reply: schemas.CheckedSystem{}},
		"GET /flows/chains":                                   {ID: "getChains", Summary: "Get the weakest chains of runs that reach each application", Group: groupFlows, Reply: chains.Report{}},
		"GET /flows/{id}/versions":                            {ID: "listFlowVersions", Summary: "List the versions of a flow, newest first", Group: groupFlows, Query: pageParameters(), Reply: openapi.List{Plural: "versions", Item: versionInfo{}}},
		"GET /flows/{id}/versions/{n}":                        {ID: "getFlowVersion", Summary: "Get a version of a flow", Group: groupFlows, Reply: openapi.Ref("Flow")},
		"POST /flows/{id}/restore":                            {ID: "restoreFlow", Summary: "Make the content of an older version the next version", Group: groupFlows, Query: reasonParameter(), Body: openapi.Body{Type: restoreBody{}, Required: []string{"version"}}, Reply: openapi.Ref("Flow"), Concealable: true},
	}
}

func serviceOperations() map[string]openapi.Operation {
	events := []openapi.Parameter{{Name: "limit", Integer: true, Description: "at most 100; default 30"}, {Name: "before", Description: "the cursor of a next link"}}
	for _, name := range eventFilters() {
		events = append(events, openapi.Parameter{Name: name})
	}
	events = append(events, openapi.Parameter{Name: "failures", Description: "true for the events of failures and refusals only"})
	return map[string]openapi.Operation{
		"GET /audit-events":  {ID: "listAuditEvents", Summary: "List the events of the audit log, newest first", Group: groupService, Query: events, Reply: eventList{}},
		"GET /configuration": {ID: "getConfiguration", Summary: "Get the configuration that is in effect, without secrets", Group: groupService, Reply: settingList{}},
		"GET /signing-keys":  {ID: "listSigningKeys", Summary: "List the keys that sign tokens, oldest first", Group: groupService, Reply: keyList{}},
		"POST /signing-keys/rotate": {ID: "rotateSigningKeys", Summary: "Publish the next signing keys; with now they sign at once", Group: groupService,
			Body: openapi.Body{Type: rotationBody{}}, Reply: keyList{}},
		"GET /audit-verification": {ID: "verifyAuditLog", Summary: "Verify the next part of the audit log", Group: groupService,
			Query: []openapi.Parameter{
				{Name: "after", Description: "the end in the reply for the previous part"},
				{Name: "expect", Description: "an end from an earlier verification, NUMBER:HASH"},
			}, Reply: schemas.LogVerification{}},
		"GET /statistics": {ID: "getStatistics", Summary: "Count sign-ins, failures and deliveries", Group: groupService,
			Query: []openapi.Parameter{
				{Name: "from", Description: "RFC 3339; default: a day before to"}, {Name: "to", Description: "RFC 3339; default: now"}, {Name: "step", Description: "hour (default) or day"},
			}, Reply: statistics{}},
		"GET /health/liveness":  {ID: "getLiveness", Summary: "Check that the process answers", Group: groupService, Reply: health{}},
		"GET /health/readiness": {ID: "getReadiness", Summary: "Check that requests can be served", Group: groupService, Reply: health{}, Failure: health{}},
		"GET " + openAPIPath:    {ID: "getOpenAPI", Summary: "Get the OpenAPI description of this API", Group: groupService, Reply: members{}},
		"GET " + docsPath:       {ID: "getDocs", Summary: "Get the description of this API as a page", Group: groupService},
		"POST " + oauth.ToolsPath: {ID: "callTools", Summary: "Call an MCP tool (Model Context Protocol, streamable HTTP)", Group: groupService,
			Body: openapi.Body{Type: members{}}, Reply: members{}},
	}
}

func pageParameters() []openapi.Parameter {
	return []openapi.Parameter{
		{Name: "limit", Integer: true, Description: "the size of the page, at most 100; default 30"},
		{Name: "offset", Integer: true, Description: "how many items to skip"},
	}
}

// reasonParameter describes the reason for a change of a flow.
func reasonParameter() []openapi.Parameter {
	return []openapi.Parameter{{Name: "reason", Description: "the reason for the change, at most 200 characters; the version and its audit event carry it"}}
}

// nounOperations describes the endpoints of a kind of resource.
func nounOperations(n directory.Noun) map[string]openapi.Operation {
	name := strings.ToUpper(n.Name[:1]) + n.Name[1:]
	plural := strings.ToUpper(n.Plural[:1]) + n.Plural[1:]
	one, many := schemas.DisplayName(n.Name), schemas.DisplayName(n.Plural)
	article := "a "
	if strings.Contains("aeio", one[:1]) {
		article = "an "
	}
	reply, body := openapi.Ref(name), openapi.Body{Type: openapi.Ref(name + "Request")}
	item := n.Path + "/{id}"
	list := append(pageParameters(),
		openapi.Parameter{Name: "after", Description: "the cursor of a next link"},
		openapi.Parameter{Name: "filter", Description: "a condition; " + describeFilters(n)})
	if n.Name == "flow" {
		list = append(list, openapi.Parameter{Name: "flowType", Description: "the same as a filter by flowType"})
	}
	create := "Create " + article + one
	if n.Name == "identityProvider" {
		create += "; its metadata must have the same issuer, if it replies"
	}
	described := map[string]openapi.Operation{
		"GET " + n.Path:  {ID: "list" + plural, Summary: "List the " + many, Query: list, Reply: openapi.List{Plural: n.Plural, Item: reply}},
		"POST " + n.Path: {ID: "create" + name, Summary: create, Body: body, Reply: reply, Status: http.StatusCreated},
		"GET " + item:    {ID: "get" + name, Summary: "Get " + article + one, Reply: reply},
		"PUT " + item:    {ID: "replace" + name, Summary: "Replace " + article + one, Body: body, Reply: reply, Concealable: true},
		"PATCH " + item:  {ID: "patch" + name, Summary: "Change some members of " + article + one, Body: openapi.Body{Type: members{}, Patch: true}, Reply: reply, Concealable: true},
		"DELETE " + item: {ID: "delete" + name, Summary: "Delete " + article + one},
	}
	for endpoint, o := range described {
		if n.Name == "flow" && o.Body.Type != nil {
			o.Query = reasonParameter()
		}
		o.Group = strings.ToUpper(many[:1]) + many[1:]
		described[endpoint] = o
	}
	return described
}

// namedSchemas are the schemas that operations refer to by name.
func namedSchemas(nouns []directory.Noun) openapi.Named {
	named := openapi.Named{
		Types: map[string]any{
			"Error": schemas.Error{}, "Finding": schemas.Problem{}, "OAuthError": oauth.Error{}, "Link": link{},
			"Step": schemas.Step{}, "Component": schemas.Component{}, "Principal": schemas.Principal{},
			"Passkey": passkeyResponse{}, "SecondFactor": factorResponse{}, "Identity": identityResponse{}, "Session": sessionResponse{},
			"Consent": consentResponse{}, "AuditEvent": schemas.Event{}, "FlowVersion": versionInfo{}, "Way": chains.Way{},
		},
		Texts: map[string]json.RawMessage{},
		Special: map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[schemas.Bytes]():   {Type: "string", Description: "base64url without padding"},
			reflect.TypeFor[json.RawMessage](): {Type: "object"},
			reflect.TypeFor[schemas.Flow]():    {Ref: "#/components/schemas/Flow"},
		},
	}
	for _, n := range nouns {
		name := strings.ToUpper(n.Name[:1]) + n.Name[1:]
		named.Texts[name+"Request"] = n.Schema().Raw()
		named.Texts[name] = json.RawMessage(`{"allOf": [{"$ref": "#/components/schemas/` + name + `Request"}, {"required": ["id", "createdAt", "updatedAt"]}]}`)
	}
	return named
}
