import{c as e,d as t,i as n,r}from"./texts-B_F8SQVT.js";import{n as i}from"./ui-CzzFItLs.js";var a=t(e(),1),o=e=>e.redirectURIs[0]??`https://app.example.com/callback`,s=e=>e.scopes.join(` `),c=e=>e.scopes.map(e=>JSON.stringify(e)).join(`, `),l=e=>e.issuer.startsWith(`http://`);function u(e){return/^https?:\/\/[^/]+(\/[^?#]*)/.exec(o(e))?.[1]??`/callback`}var d=[{title:`Node.js: Express, openid-client`,kinds:[`secret`],code:e=>`// npm install express express-session openid-client
import express from "express";
import session from "express-session";
import * as oidc from "openid-client";

const config = await oidc.discovery(new URL("${e.issuer}"), "${e.clientID}", process.env.CLIENT_SECRET${l(e)?`,
  undefined, { execute: [oidc.allowInsecureRequests] }`:``});
const redirectURI = "${o(e)}";
const app = express();
app.use(session({ secret: process.env.SESSION_SECRET, resave: false, saveUninitialized: false }));

app.get("/login", async (req, res) => {
  const verifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  req.session.signIn = { verifier, state };
  res.redirect(oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectURI, scope: "${s(e)}", state,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256",
  }).href);
});

app.get("${u(e)}", async (req, res) => {
  const { verifier, state } = req.session.signIn ?? {};
  const tokens = await oidc.authorizationCodeGrant(config, new URL(req.originalUrl, redirectURI),
    { pkceCodeVerifier: verifier, expectedState: state });
  req.session.regenerate(() => {
    req.session.user = tokens.claims();
    res.redirect("/");
  });
});

app.listen(3000);
`},{title:`Next.js: Auth.js`,kinds:[`secret`],code:e=>`// npm install next-auth@beta; set AUTH_SECRET
// Redirect URI to register: https://YOUR-HOST/api/auth/callback/postern

// auth.ts
import NextAuth from "next-auth";

export const { handlers, auth, signIn, signOut } = NextAuth({
  providers: [{
    id: "postern", name: "Postern", type: "oidc",
    issuer: "${e.issuer}",
    clientId: "${e.clientID}",
    clientSecret: process.env.CLIENT_SECRET,
    authorization: { params: { scope: "${s(e)}" } },
    checks: ["pkce", "state"],
  }],
});

// app/api/auth/[...nextauth]/route.ts
import { handlers } from "@/auth";
export const { GET, POST } = handlers;
`},{title:`Go: coreos/go-oidc, x/oauth2`,kinds:[`secret`],code:e=>`// go get github.com/coreos/go-oidc/v3 golang.org/x/oauth2
provider, err := oidc.NewProvider(ctx, "${e.issuer}")
if err != nil {
	return err
}
config := oauth2.Config{
	ClientID:     "${e.clientID}",
	ClientSecret: os.Getenv("CLIENT_SECRET"),
	Endpoint:     provider.Endpoint(),
	RedirectURL:  "${o(e)}",
	Scopes:       []string{${c(e)}},
}

// Start: keep state and verifier in the session of the browser.
verifier := oauth2.GenerateVerifier()
http.Redirect(w, r, config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)), http.StatusFound)

// ${u(e)}: compare r.FormValue("state") with the stored state first.
token, err := config.Exchange(ctx, r.FormValue("code"), oauth2.VerifierOption(verifier))
if err != nil {
	return err
}
raw, _ := token.Extra("id_token").(string)
idToken, err := provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(ctx, raw)
`},{title:`Python: Flask, Authlib`,kinds:[`secret`],code:e=>`# pip install flask authlib requests
import os
from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session

app = Flask(__name__)
app.secret_key = os.environ["SESSION_SECRET"]
oauth = OAuth(app)
oauth.register(
    "postern",
    server_metadata_url="${e.issuer}/.well-known/openid-configuration",
    client_id="${e.clientID}",
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "${s(e)}", "code_challenge_method": "S256"},
)

@app.get("/login")
def login():
    return oauth.postern.authorize_redirect("${o(e)}")

@app.get("${u(e)}")
def callback():
    token = oauth.postern.authorize_access_token()
    session["user"] = token["userinfo"]
    return redirect("/")
`},{title:`Python: Django, Authlib`,kinds:[`secret`],code:e=>`# pip install django authlib requests
# views.py; route /login to login and ${u(e)} to callback in urls.py
import os
from authlib.integrations.django_client import OAuth
from django.shortcuts import redirect

oauth = OAuth()
oauth.register(
    "postern",
    server_metadata_url="${e.issuer}/.well-known/openid-configuration",
    client_id="${e.clientID}",
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "${s(e)}", "code_challenge_method": "S256"},
)

def login(request):
    return oauth.postern.authorize_redirect(request, "${o(e)}")

def callback(request):
    token = oauth.postern.authorize_access_token(request)
    request.session["user"] = dict(token["userinfo"])
    return redirect("/")
`},{title:`Java: Spring Boot`,kinds:[`secret`],code:e=>`# spring-boot-starter-oauth2-client; application.yml
# Redirect URI to register: https://YOUR-HOST/login/oauth2/code/postern
spring:
  security:
    oauth2:
      client:
        provider:
          postern:
            issuer-uri: ${e.issuer}
        registration:
          postern:
            client-id: ${e.clientID}
            client-secret: \${CLIENT_SECRET}
            scope: ${e.scopes.join(`, `)}

// SecurityConfiguration.java: with PKCE
@Bean
SecurityFilterChain chain(HttpSecurity http, ClientRegistrationRepository clients) throws Exception {
    var resolver = new DefaultOAuth2AuthorizationRequestResolver(clients, "/oauth2/authorization");
    resolver.setAuthorizationRequestCustomizer(OAuth2AuthorizationRequestCustomizers.withPkce());
    return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
        .oauth2Login(login -> login.authorizationEndpoint(e -> e.authorizationRequestResolver(resolver)))
        .build();
}
`},{title:`C#: ASP.NET Core`,kinds:[`secret`],code:e=>`// dotnet add package Microsoft.AspNetCore.Authentication.OpenIdConnect
builder.Services
    .AddAuthentication(options =>
    {
        options.DefaultScheme = CookieAuthenticationDefaults.AuthenticationScheme;
        options.DefaultChallengeScheme = OpenIdConnectDefaults.AuthenticationScheme;
    })
    .AddCookie()
    .AddOpenIdConnect(options =>
    {
        options.Authority = "${e.issuer}";${l(e)?`
        options.RequireHttpsMetadata = false;`:``}
        options.ClientId = "${e.clientID}";
        options.ClientSecret = builder.Configuration["CLIENT_SECRET"];
        options.ResponseType = OpenIdConnectResponseType.Code;
        options.ResponseMode = OpenIdConnectResponseMode.Query;
        options.CallbackPath = "${u(e)}";
        options.MapInboundClaims = false;
        options.Scope.Clear();
        foreach (var scope in new[] { ${c(e)} }) options.Scope.Add(scope);
    });
`},{title:`PHP: jumbojett/openid-connect-php`,kinds:[`secret`],code:e=>`<?php // composer require jumbojett/openid-connect-php
require 'vendor/autoload.php';

$oidc = new Jumbojett\\OpenIDConnectClient('${e.issuer}', '${e.clientID}', getenv('CLIENT_SECRET'));
$oidc->setRedirectURL('${o(e)}');
$oidc->setCodeChallengeMethod('S256');
$oidc->addScope([${e.scopes.map(e=>`'${e}'`).join(`, `)}]);
$oidc->authenticate(); // redirects, and verifies the answer at the redirect URI
$user = $oidc->getVerifiedClaims();
`},{title:`nginx or any service: oauth2-proxy`,kinds:[`secret`],code:e=>`# Redirect URI to register: https://YOUR-HOST/oauth2/callback
export OAUTH2_PROXY_CLIENT_SECRET="$CLIENT_SECRET"
export OAUTH2_PROXY_COOKIE_SECRET="$(openssl rand -base64 32 | tr -- '+/' '-_')"
oauth2-proxy \\
  --provider=oidc \\
  --oidc-issuer-url=${e.issuer} \\
  --client-id=${e.clientID} \\
  --redirect-url=${o(e)} \\
  --scope="${s(e)}" \\
  --code-challenge-method=S256 \\
  --email-domain='*' \\
  --upstream=http://127.0.0.1:8081
`},{title:`React or any page: oidc-client-ts`,kinds:[`public`],code:e=>`// npm install oidc-client-ts
import { UserManager } from "oidc-client-ts";

const users = new UserManager({
  authority: "${e.issuer}",
  client_id: "${e.clientID}",
  redirect_uri: "${o(e)}",
  scope: "${s(e)}",
});

export async function signedInUser() {
  if (new URLSearchParams(location.search).has("code")) {
    const user = await users.signinRedirectCallback();
    history.replaceState(null, "", "/");
    return user;
  }
  return (await users.getUser()) ?? users.signinRedirect();
}
`},{title:`iOS, macOS: AppAuth`,kinds:[`public`],code:e=>`// Swift package https://github.com/openid/AppAuth-iOS
OIDAuthorizationService.discoverConfiguration(forIssuer: URL(string: "${e.issuer}")!) { configuration, error in
    guard let configuration else { return }
    let request = OIDAuthorizationRequest(
        configuration: configuration, clientId: "${e.clientID}", clientSecret: nil,
        scopes: [${c(e)}], redirectURL: URL(string: "${o(e)}")!,
        responseType: OIDResponseTypeCode, additionalParameters: nil)
    // Keep the session until the app receives the redirect.
    self.session = OIDAuthState.authState(byPresenting: request, presenting: self) { state, error in
        self.state = state
    }
}
`},{title:`Android: AppAuth`,kinds:[`public`],code:e=>`// implementation("net.openid:appauth:0.11.1"); set appAuthRedirectScheme in build.gradle
AuthorizationServiceConfiguration.fetchFromIssuer(Uri.parse("${e.issuer}")) { configuration, error ->
    if (configuration == null) return@fetchFromIssuer
    val request = AuthorizationRequest.Builder(
        configuration, "${e.clientID}", ResponseTypeValues.CODE, Uri.parse("${o(e)}")
    ).setScope("${s(e)}").build()
    launcher.launch(AuthorizationService(this).getAuthorizationRequestIntent(request))
}
`},{title:`Go: command-line program`,kinds:[`public`],code:e=>`// go get golang.org/x/oauth2; the server accepts any port of a registered loopback address
listener, err := net.Listen("tcp", "127.0.0.1:0")
if err != nil {
	return err
}
config := oauth2.Config{
	ClientID:    "${e.clientID}",
	Endpoint:    oauth2.Endpoint{AuthURL: "${e.issuer}/oauth2/authorize", TokenURL: "${e.issuer}/oauth2/token", AuthStyle: oauth2.AuthStyleInParams},
	RedirectURL: "http://" + listener.Addr().String() + "/callback",
	Scopes:      []string{${c(e)}},
}
verifier, state := oauth2.GenerateVerifier(), rand.Text()
fmt.Println("Open", config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)))
codes := make(chan string, 1)
go http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	if r.FormValue("state") == state {
		codes <- r.FormValue("code")
	}
}))
token, err := config.Exchange(ctx, <-codes, oauth2.VerifierOption(verifier))
`},{title:`curl`,kinds:[`machine`],code:e=>`curl ${e.issuer}/oauth2/token \\
  -u "${e.clientID}:$CLIENT_SECRET" \\
  -d grant_type=client_credentials${e.scopes.length>0?` \\
  -d scope="${s(e)}"`:``}
`},{title:`Go: x/oauth2/clientcredentials`,kinds:[`machine`],code:e=>`// go get golang.org/x/oauth2
config := clientcredentials.Config{
	ClientID:     "${e.clientID}",
	ClientSecret: os.Getenv("CLIENT_SECRET"),
	TokenURL:     "${e.issuer}/oauth2/token",
	Scopes:       []string{${c(e)}},
}
client := config.Client(ctx) // sends an access token, and gets the next one in time
`},{title:`Python: Authlib`,kinds:[`machine`],code:e=>`# pip install authlib requests
import os
from authlib.integrations.requests_client import OAuth2Session

client = OAuth2Session("${e.clientID}", os.environ["CLIENT_SECRET"], scope="${s(e)}")
client.fetch_token("${e.issuer}/oauth2/token", grant_type="client_credentials")
`},{title:`curl`,kinds:[`flow`],code:e=>`# Start a sign-in. The answer has executionId, and the inputs and actions of the first step.
curl ${e.issuer}/flow/execute -H 'Content-Type: application/json' \\
  -d '{"applicationId":"${e.applicationID}","flowType":"AUTHENTICATION"}'

# Answer the step, with a value for each input and the challengeToken of the last answer. Repeat it
# until flowStatus is COMPLETE; the assertion is then a JWT that ${e.issuer}/oauth2/jwks verifies.
curl ${e.issuer}/flow/execute -H 'Content-Type: application/json' \\
  -d '{"executionId":"…","challengeToken":"…","action":"…","inputs":{"…":"…"}}'
`}],f=n();function p({client:e}){let t=(0,a.useId)(),n=d.filter(({kinds:t})=>t.includes(e.kind)),[o,s]=(0,a.useState)(n[0]?.title??``),c=n.find(e=>e.title===o);if(!c)return null;let l=c.code(e);return(0,f.jsxs)(f.Fragment,{children:[(0,f.jsxs)(`div`,{className:`actions`,children:[(0,f.jsx)(`label`,{htmlFor:t,children:r(`Stack`)}),(0,f.jsx)(`select`,{id:t,value:o,onChange:e=>s(e.target.value),children:n.map(e=>(0,f.jsx)(`option`,{children:e.title},e.title))}),(0,f.jsx)(i,{text:l})]}),e.kind===`secret`||e.kind===`machine`?(0,f.jsx)(`p`,{className:`quiet`,children:r(`The code reads the client secret from the environment variable CLIENT_SECRET.`)}):null,(0,f.jsx)(`pre`,{className:`snippet`,children:l})]})}export{p as default};