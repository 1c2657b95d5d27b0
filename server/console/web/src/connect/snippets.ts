// Code that connects an application, one snippet for each stack. Secrets come from the environment.
import type { Client } from "./client";

export interface Snippet {
  title: string;
  kinds: Client["kind"][];
  code: (client: Client) => string;
}

const redirectURI = (c: Client) => c.redirectURIs[0] ?? "https://app.example.com/callback";
const scope = (c: Client) => c.scopes.join(" ");
const quotedScopes = (c: Client) => c.scopes.map((one) => JSON.stringify(one)).join(", ");
const isPlain = (c: Client) => c.issuer.startsWith("http://");

/** callbackPath is the path of the redirect URI, such as /callback. */
function callbackPath(c: Client): string {
  return /^https?:\/\/[^/]+(\/[^?#]*)/.exec(redirectURI(c))?.[1] ?? "/callback";
}

const express: Snippet = {
  title: "Node.js: Express, openid-client",
  kinds: ["secret"],
  code: (c) => `// npm install express express-session openid-client
import express from "express";
import session from "express-session";
import * as oidc from "openid-client";

const config = await oidc.discovery(new URL("${c.issuer}"), "${c.clientID}", process.env.CLIENT_SECRET${isPlain(c) ? `,
  undefined, { execute: [oidc.allowInsecureRequests] }` : ""});
const redirectURI = "${redirectURI(c)}";
const app = express();
app.use(session({ secret: process.env.SESSION_SECRET, resave: false, saveUninitialized: false }));

app.get("/login", async (req, res) => {
  const verifier = oidc.randomPKCECodeVerifier();
  const state = oidc.randomState();
  req.session.signIn = { verifier, state };
  res.redirect(oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectURI, scope: "${scope(c)}", state,
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256",
  }).href);
});

app.get("${callbackPath(c)}", async (req, res) => {
  const { verifier, state } = req.session.signIn ?? {};
  const tokens = await oidc.authorizationCodeGrant(config, new URL(req.originalUrl, redirectURI),
    { pkceCodeVerifier: verifier, expectedState: state });
  req.session.regenerate(() => {
    req.session.user = tokens.claims();
    res.redirect("/");
  });
});

app.listen(3000);
`,
};

const next: Snippet = {
  title: "Next.js: Auth.js",
  kinds: ["secret"],
  code: (c) => `// npm install next-auth@beta; set AUTH_SECRET
// Redirect URI to register: https://YOUR-HOST/api/auth/callback/postern

// auth.ts
import NextAuth from "next-auth";

export const { handlers, auth, signIn, signOut } = NextAuth({
  providers: [{
    id: "postern", name: "Postern", type: "oidc",
    issuer: "${c.issuer}",
    clientId: "${c.clientID}",
    clientSecret: process.env.CLIENT_SECRET,
    authorization: { params: { scope: "${scope(c)}" } },
    checks: ["pkce", "state"],
  }],
});

// app/api/auth/[...nextauth]/route.ts
import { handlers } from "@/auth";
export const { GET, POST } = handlers;
`,
};

const goServer: Snippet = {
  title: "Go: coreos/go-oidc, x/oauth2",
  kinds: ["secret"],
  code: (c) => `// go get github.com/coreos/go-oidc/v3 golang.org/x/oauth2
provider, err := oidc.NewProvider(ctx, "${c.issuer}")
if err != nil {
	return err
}
config := oauth2.Config{
	ClientID:     "${c.clientID}",
	ClientSecret: os.Getenv("CLIENT_SECRET"),
	Endpoint:     provider.Endpoint(),
	RedirectURL:  "${redirectURI(c)}",
	Scopes:       []string{${quotedScopes(c)}},
}

// Start: keep state and verifier in the session of the browser.
verifier := oauth2.GenerateVerifier()
http.Redirect(w, r, config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier)), http.StatusFound)

// ${callbackPath(c)}: compare r.FormValue("state") with the stored state first.
token, err := config.Exchange(ctx, r.FormValue("code"), oauth2.VerifierOption(verifier))
if err != nil {
	return err
}
raw, _ := token.Extra("id_token").(string)
idToken, err := provider.Verifier(&oidc.Config{ClientID: config.ClientID}).Verify(ctx, raw)
`,
};

const flask: Snippet = {
  title: "Python: Flask, Authlib",
  kinds: ["secret"],
  code: (c) => `# pip install flask authlib requests
import os
from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session

app = Flask(__name__)
app.secret_key = os.environ["SESSION_SECRET"]
oauth = OAuth(app)
oauth.register(
    "postern",
    server_metadata_url="${c.issuer}/.well-known/openid-configuration",
    client_id="${c.clientID}",
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "${scope(c)}", "code_challenge_method": "S256"},
)

@app.get("/login")
def login():
    return oauth.postern.authorize_redirect("${redirectURI(c)}")

@app.get("${callbackPath(c)}")
def callback():
    token = oauth.postern.authorize_access_token()
    session["user"] = token["userinfo"]
    return redirect("/")
`,
};

const django: Snippet = {
  title: "Python: Django, Authlib",
  kinds: ["secret"],
  code: (c) => `# pip install django authlib requests
# views.py; route /login to login and ${callbackPath(c)} to callback in urls.py
import os
from authlib.integrations.django_client import OAuth
from django.shortcuts import redirect

oauth = OAuth()
oauth.register(
    "postern",
    server_metadata_url="${c.issuer}/.well-known/openid-configuration",
    client_id="${c.clientID}",
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "${scope(c)}", "code_challenge_method": "S256"},
)

def login(request):
    return oauth.postern.authorize_redirect(request, "${redirectURI(c)}")

def callback(request):
    token = oauth.postern.authorize_access_token(request)
    request.session["user"] = dict(token["userinfo"])
    return redirect("/")
`,
};

const spring: Snippet = {
  title: "Java: Spring Boot",
  kinds: ["secret"],
  code: (c) => `# spring-boot-starter-oauth2-client; application.yml
# Redirect URI to register: https://YOUR-HOST/login/oauth2/code/postern
spring:
  security:
    oauth2:
      client:
        provider:
          postern:
            issuer-uri: ${c.issuer}
        registration:
          postern:
            client-id: ${c.clientID}
            client-secret: \${CLIENT_SECRET}
            scope: ${c.scopes.join(", ")}

// SecurityConfiguration.java: with PKCE
@Bean
SecurityFilterChain chain(HttpSecurity http, ClientRegistrationRepository clients) throws Exception {
    var resolver = new DefaultOAuth2AuthorizationRequestResolver(clients, "/oauth2/authorization");
    resolver.setAuthorizationRequestCustomizer(OAuth2AuthorizationRequestCustomizers.withPkce());
    return http.authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
        .oauth2Login(login -> login.authorizationEndpoint(e -> e.authorizationRequestResolver(resolver)))
        .build();
}
`,
};

const aspnet: Snippet = {
  title: "C#: ASP.NET Core",
  kinds: ["secret"],
  code: (c) => `// dotnet add package Microsoft.AspNetCore.Authentication.OpenIdConnect
builder.Services
    .AddAuthentication(options =>
    {
        options.DefaultScheme = CookieAuthenticationDefaults.AuthenticationScheme;
        options.DefaultChallengeScheme = OpenIdConnectDefaults.AuthenticationScheme;
    })
    .AddCookie()
    .AddOpenIdConnect(options =>
    {
        options.Authority = "${c.issuer}";${isPlain(c) ? "\n        options.RequireHttpsMetadata = false;" : ""}
        options.ClientId = "${c.clientID}";
        options.ClientSecret = builder.Configuration["CLIENT_SECRET"];
        options.ResponseType = OpenIdConnectResponseType.Code;
        options.ResponseMode = OpenIdConnectResponseMode.Query;
        options.CallbackPath = "${callbackPath(c)}";
        options.MapInboundClaims = false;
        options.Scope.Clear();
        foreach (var scope in new[] { ${quotedScopes(c)} }) options.Scope.Add(scope);
    });
`,
};

const php: Snippet = {
  title: "PHP: jumbojett/openid-connect-php",
  kinds: ["secret"],
  code: (c) => `<?php // composer require jumbojett/openid-connect-php
require 'vendor/autoload.php';

$oidc = new Jumbojett\\OpenIDConnectClient('${c.issuer}', '${c.clientID}', getenv('CLIENT_SECRET'));
$oidc->setRedirectURL('${redirectURI(c)}');
$oidc->setCodeChallengeMethod('S256');
$oidc->addScope([${c.scopes.map((one) => `'${one}'`).join(", ")}]);
$oidc->authenticate(); // redirects, and verifies the answer at the redirect URI
$user = $oidc->getVerifiedClaims();
`,
};

const proxy: Snippet = {
  title: "nginx or any service: oauth2-proxy",
  kinds: ["secret"],
  code: (c) => `# Redirect URI to register: https://YOUR-HOST/oauth2/callback
export OAUTH2_PROXY_CLIENT_SECRET="$CLIENT_SECRET"
export OAUTH2_PROXY_COOKIE_SECRET="$(openssl rand -base64 32 | tr -- '+/' '-_')"
oauth2-proxy \\
  --provider=oidc \\
  --oidc-issuer-url=${c.issuer} \\
  --client-id=${c.clientID} \\
  --redirect-url=${redirectURI(c)} \\
  --scope="${scope(c)}" \\
  --code-challenge-method=S256 \\
  --email-domain='*' \\
  --upstream=http://127.0.0.1:8081
`,
};

const browser: Snippet = {
  title: "React or any page: oidc-client-ts",
  kinds: ["public"],
  code: (c) => `// npm install oidc-client-ts
import { UserManager } from "oidc-client-ts";

const users = new UserManager({
  authority: "${c.issuer}",
  client_id: "${c.clientID}",
  redirect_uri: "${redirectURI(c)}",
  scope: "${scope(c)}",
});

export async function signedInUser() {
  if (new URLSearchParams(location.search).has("code")) {
    const user = await users.signinRedirectCallback();
    history.replaceState(null, "", "/");
    return user;
  }
  return (await users.getUser()) ?? users.signinRedirect();
}
`,
};

const ios: Snippet = {
  title: "iOS, macOS: AppAuth",
  kinds: ["public"],
  code: (c) => `// Swift package https://github.com/openid/AppAuth-iOS
OIDAuthorizationService.discoverConfiguration(forIssuer: URL(string: "${c.issuer}")!) { configuration, error in
    guard let configuration else { return }
    let request = OIDAuthorizationRequest(
        configuration: configuration, clientId: "${c.clientID}", clientSecret: nil,
        scopes: [${quotedScopes(c)}], redirectURL: URL(string: "${redirectURI(c)}")!,
        responseType: OIDResponseTypeCode, additionalParameters: nil)
    // Keep the session until the app receives the redirect.
    self.session = OIDAuthState.authState(byPresenting: request, presenting: self) { state, error in
        self.state = state
    }
}
`,
};

const android: Snippet = {
  title: "Android: AppAuth",
  kinds: ["public"],
  code: (c) => `// implementation("net.openid:appauth:0.11.1"); set appAuthRedirectScheme in build.gradle
AuthorizationServiceConfiguration.fetchFromIssuer(Uri.parse("${c.issuer}")) { configuration, error ->
    if (configuration == null) return@fetchFromIssuer
    val request = AuthorizationRequest.Builder(
        configuration, "${c.clientID}", ResponseTypeValues.CODE, Uri.parse("${redirectURI(c)}")
    ).setScope("${scope(c)}").build()
    launcher.launch(AuthorizationService(this).getAuthorizationRequestIntent(request))
}
`,
};

const goProgram: Snippet = {
  title: "Go: command-line program",
  kinds: ["public"],
  code: (c) => `// go get golang.org/x/oauth2; the server accepts any port of a registered loopback address
listener, err := net.Listen("tcp", "127.0.0.1:0")
if err != nil {
	return err
}
config := oauth2.Config{
	ClientID:    "${c.clientID}",
	Endpoint:    oauth2.Endpoint{AuthURL: "${c.issuer}/oauth2/authorize", TokenURL: "${c.issuer}/oauth2/token", AuthStyle: oauth2.AuthStyleInParams},
	RedirectURL: "http://" + listener.Addr().String() + "/callback",
	Scopes:      []string{${quotedScopes(c)}},
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
`,
};

const curl: Snippet = {
  title: "curl",
  kinds: ["machine"],
  code: (c) => `curl ${c.issuer}/oauth2/token \\
  -u "${c.clientID}:$CLIENT_SECRET" \\
  -d grant_type=client_credentials${c.scopes.length > 0 ? ` \\
  -d scope="${scope(c)}"` : ""}
`,
};

const goMachine: Snippet = {
  title: "Go: x/oauth2/clientcredentials",
  kinds: ["machine"],
  code: (c) => `// go get golang.org/x/oauth2
config := clientcredentials.Config{
	ClientID:     "${c.clientID}",
	ClientSecret: os.Getenv("CLIENT_SECRET"),
	TokenURL:     "${c.issuer}/oauth2/token",
	Scopes:       []string{${quotedScopes(c)}},
}
client := config.Client(ctx) // sends an access token, and gets the next one in time
`,
};

const pythonMachine: Snippet = {
  title: "Python: Authlib",
  kinds: ["machine"],
  code: (c) => `# pip install authlib requests
import os
from authlib.integrations.requests_client import OAuth2Session

client = OAuth2Session("${c.clientID}", os.environ["CLIENT_SECRET"], scope="${scope(c)}")
client.fetch_token("${c.issuer}/oauth2/token", grant_type="client_credentials")
`,
};

const flow: Snippet = {
  title: "curl",
  kinds: ["flow"],
  code: (c) => `# Start a sign-in. The answer has executionId, and the inputs and actions of the first step.
curl ${c.issuer}/flow/execute -H 'Content-Type: application/json' \\
  -d '{"applicationId":"${c.applicationID}","flowType":"AUTHENTICATION"}'

# Answer the step, with a value for each input and the challengeToken of the last answer. Repeat it
# until flowStatus is COMPLETE; the assertion is then a JWT that ${c.issuer}/oauth2/jwks verifies.
curl ${c.issuer}/flow/execute -H 'Content-Type: application/json' \\
  -d '{"executionId":"…","challengeToken":"…","action":"…","inputs":{"…":"…"}}'
`,
};

export const snippets: Snippet[] = [express, next, goServer, flask, django, spring, aspnet, php, proxy, browser, ios, android, goProgram, curl, goMachine, pythonMachine, flow];
