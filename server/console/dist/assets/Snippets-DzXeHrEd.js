import{r as e}from"./rolldown-runtime-XKyaHtl9.js";import{a as t,l as n,r}from"./texts-DlBdpfPT.js";import{kt as i}from"./Icon-B-36lmYj.js";import{n as a}from"./ui-OUxC1VAc.js";var o=e(n(),1),s=`-- build.gradle.kts --
android { defaultConfig { manifestPlaceholders["appAuthRedirectScheme"] = "__REDIRECT_SCHEME__" } }
dependencies { implementation("net.openid:appauth:0.11.1") }
-- SignIn.kt --
class SignIn(private val activity: ComponentActivity) {
    private val service = AuthorizationService(activity)
    var state = AuthState() // store state.jsonSerializeString() encrypted

    private val launcher = activity.registerForActivityResult(ActivityResultContracts.StartActivityForResult()) { result ->
        val data = result.data ?: return@registerForActivityResult
        val response = AuthorizationResponse.fromIntent(data)
        val error = AuthorizationException.fromIntent(data)
        state.update(response, error)
        if (response == null) return@registerForActivityResult show(error)
        service.performTokenRequest(response.createTokenExchangeRequest()) { tokens, failure ->
            state.update(tokens, failure)
            show(failure)
        }
    }

    fun start() = AuthorizationServiceConfiguration.fetchFromIssuer(Uri.parse("__ISSUER__")) { configuration, error ->
        if (configuration == null) return@fetchFromIssuer show(error)
        state = AuthState(configuration)
        val request = AuthorizationRequest.Builder(configuration, "__CLIENT_ID__", ResponseTypeValues.CODE, Uri.parse("__REDIRECT_URI__"))
            .setScope("__SCOPES__")
            .build() // with state, nonce and PKCE
        launcher.launch(service.getAuthorizationRequestIntent(request))
    }

    /** call runs an action with an access token, which is refreshed if it has expired. */
    fun call(action: (String) -> Unit) = state.performActionWithFreshTokens(service) { token, _, error ->
        if (token == null) show(error) else action(token)
    }

    fun signOut() {
        val request = EndSessionRequest.Builder(state.authorizationServiceConfiguration ?: return)
            .setIdTokenHint(state.idToken)
            .setPostLogoutRedirectUri(Uri.parse("__POST_LOGOUT_URI__"))
            .build()
        state = AuthState()
        activity.startActivity(service.getEndSessionRequestIntent(request))
    }

    private fun show(error: Exception?) { /* update the page; null means success */ }
}
`,c=`-- postern.conf --
OIDCProviderMetadataURL "__ISSUER__/.well-known/openid-configuration"
OIDCClientID "__CLIENT_ID__"
OIDCClientSecret "\${CLIENT_SECRET}"
OIDCCryptoPassphrase "exec:/usr/bin/openssl rand -hex 32"
OIDCRedirectURI "__REDIRECT_URI__"
OIDCScope "__SCOPES__"
OIDCPKCEMethod S256
OIDCRemoteUserClaim sub
OIDCAuthNHeader X-User
OIDCSessionInactivityTimeout 3600

<Location "/">
    AuthType openid-connect
    Require valid-user
</Location>

<Location "/signed-out">
    AuthType None
    Require all granted
</Location>

ProxyPass "/signed-out" "!"
ProxyPass "/oidc" "!"
ProxyPass "/" "http://127.0.0.1:8081/"
`,l=`-- argocd-cm.yaml --
# The redirect URI is __REDIRECT_URI__
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-cm, namespace: argocd}
data:
  url: __BASE_URL__
  oidc.config: |
    name: Postern
    issuer: __ISSUER__
    clientID: __CLIENT_ID__
    enablePKCEAuthentication: true
    requestedScopes: [openid, profile, email, groups]
    logoutURL: __ISSUER__/oauth2/logout?client_id=__CLIENT_ID__&id_token_hint={{token}}&post_logout_redirect_uri={{logoutRedirectURL}}
-- argocd-rbac-cm.yaml --
apiVersion: v1
kind: ConfigMap
metadata: {name: argocd-rbac-cm, namespace: argocd}
data:
  scopes: '[groups]'
  policy.default: ''
  policy.csv: |
    p, role:deployer, applications, get, */*, allow
    p, role:deployer, applications, sync, */*, allow
    g, argocd-admins, role:admin
    g, argocd-deployers, role:deployer
    g, argocd-viewers, role:readonly
`,u=`-- Program.cs --
// dotnet add package Microsoft.AspNetCore.Authentication.OpenIdConnect
using Microsoft.AspNetCore.Authentication;
using Microsoft.AspNetCore.Authentication.Cookies;
using Microsoft.AspNetCore.Authentication.OpenIdConnect;
using Microsoft.IdentityModel.Protocols.OpenIdConnect;

var builder = WebApplication.CreateBuilder(args);
builder.Services
    .AddAuthentication(options =>
    {
        options.DefaultScheme = CookieAuthenticationDefaults.AuthenticationScheme;
        options.DefaultChallengeScheme = OpenIdConnectDefaults.AuthenticationScheme;
    })
    .AddCookie(options => options.ExpireTimeSpan = TimeSpan.FromHours(8))
    .AddOpenIdConnect(options =>
    {
        options.Authority = "__ISSUER__";
        options.RequireHttpsMetadata = !new Uri(options.Authority).IsLoopback; // plain http is for development
        options.ClientId = "__CLIENT_ID__";
        options.ClientSecret = builder.Configuration["CLIENT_SECRET"];
        options.ResponseType = OpenIdConnectResponseType.Code; // with PKCE, which is the default
        options.ResponseMode = OpenIdConnectResponseMode.Query;
        options.CallbackPath = "__REDIRECT_PATH__"; // the redirect URI is __REDIRECT_URI__
        options.SignedOutCallbackPath = "__POST_LOGOUT_PATH__"; // the post-logout URI is __POST_LOGOUT_URI__
        options.MapInboundClaims = false;
        options.TokenValidationParameters.NameClaimType = "sub"; // names can change, and two users can have one
        options.SaveTokens = true; // in the encrypted cookie; the sign-out needs the ID token
        options.Scope.Clear();
        foreach (var scope in "__SCOPES__".Split(' ')) options.Scope.Add(scope);
    });
builder.Services.AddAuthorization();

var app = builder.Build();
app.UseAuthentication();
app.UseAuthorization();
app.MapGet("/", (HttpContext context) => $"Signed in as {context.User.FindFirst("name")?.Value ?? context.User.Identity?.Name}").RequireAuthorization();
app.MapPost("/logout", () => Results.SignOut(new AuthenticationProperties { RedirectUri = "/" },
    [CookieAuthenticationDefaults.AuthenticationScheme, OpenIdConnectDefaults.AuthenticationScheme]));
app.Run();
`,d=`-- token.sh --
curl -sSf -u "__CLIENT_ID__:$CLIENT_SECRET" "__ISSUER__/oauth2/token" \\
  -d grant_type=client_credentials --data-urlencode "scope=__SCOPES__"
# For an API of your own, add: -d resource=https://api.example.org
`,f=`-- views.py --
# pip install django authlib requests
import os
from urllib.parse import urlencode

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.django_client import OAuth
from django.http import HttpResponseBadRequest
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

ISSUER = "__ISSUER__"
CLIENT_ID = "__CLIENT_ID__"

oauth = OAuth()
oauth.register(
    "postern",
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_id=CLIENT_ID,
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "__SCOPES__", "code_challenge_method": "S256", "default_timeout": 10},
)


def login(request):
    return oauth.postern.authorize_redirect(request, "__REDIRECT_URI__")


def callback(request):
    if request.GET.get("iss") != ISSUER:  # RFC 9207
        return HttpResponseBadRequest("The answer is from another issuer.")
    try:
        token = oauth.postern.authorize_access_token(request)  # checks state, nonce and the signature
    except AuthlibBaseError:
        return HttpResponseBadRequest("That did not work. Go back and sign in again.")
    request.session.cycle_key()  # a new session id
    request.session["user"], request.session["id_token"] = dict(token["userinfo"]), token["id_token"]
    return redirect("/")


@require_POST
def logout(request):
    id_token = request.session.get("id_token")
    request.session.flush()
    if not id_token:
        return redirect("/")
    query = {"client_id": CLIENT_ID, "id_token_hint": id_token, "post_logout_redirect_uri": "__POST_LOGOUT_URI__"}
    return redirect(oauth.postern.load_server_metadata()["end_session_endpoint"] + "?" + urlencode(query))
-- urls.py --
from django.urls import path

from . import views

urlpatterns = [
    path("login", views.login),
    path("__REDIRECT_PATH__".lstrip("/"), views.callback),
    path("logout", views.logout),
]
`,p=`-- app.mjs --
// npm install express express-session openid-client
import express from "express";
import session from "express-session";
import * as oidc from "openid-client";

const issuer = new URL("__ISSUER__");
const clientID = "__CLIENT_ID__";
const clientSecret = process.env.CLIENT_SECRET;
const baseURL = "__BASE_URL__";
const callbackPath = "__REDIRECT_PATH__";
const redirectURI = "__REDIRECT_URI__";
const postLogoutURI = "__POST_LOGOUT_URI__";
const scope = "__SCOPES__";
const apiURL = ""; // the identifier of your API, if the application calls one
const sessionSecret = process.env.SESSION_SECRET ?? crypto.randomUUID() + crypto.randomUUID(); // a random one ends all sessions at a restart

const config = await oidc.discovery(issuer, clientID, undefined, clientSecret ? oidc.ClientSecretBasic(clientSecret) : oidc.None(),
  { execute: issuer.protocol === "http:" ? [oidc.allowInsecureRequests] : [], timeout: 10 });

const app = express();
app.set("trust proxy", "loopback"); // for a proxy on this machine that terminates TLS
app.use(session({
  secret: sessionSecret, resave: false, saveUninitialized: false, // in production also \`store\`, such as connect-redis
  cookie: { httpOnly: true, sameSite: "lax", secure: baseURL.startsWith("https:"), maxAge: 8 * 60 * 60 * 1000 },
}));

app.get("/", (req, res) => res.send(req.session.user
  ? \`Signed in as \${encodeURIComponent(req.session.user.sub)} <form method="post" action="/logout"><button>Sign out</button></form>\`
  : '<a href="/login">Sign in</a>'));

app.get("/login", async (req, res) => {
  const checks = { pkceCodeVerifier: oidc.randomPKCECodeVerifier(), expectedState: oidc.randomState(), expectedNonce: oidc.randomNonce() };
  req.session.checks = checks;
  const url = oidc.buildAuthorizationUrl(config, {
    redirect_uri: redirectURI, scope, ...(apiURL && { resource: apiURL }), // the API that the access token is for
    state: checks.expectedState, nonce: checks.expectedNonce,
    code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier), code_challenge_method: "S256",
  });
  req.session.save((error) => error ? res.sendStatus(500) : res.redirect(url.href)); // the answer needs the checks
});

app.get(callbackPath, async (req, res, next) => {
  const { checks } = req.session;
  if (!checks) {
    return res.status(400).send("This browser did not start this sign-in. Go back and sign in again.");
  }
  delete req.session.checks; // they are for one answer
  const url = new URL(req.originalUrl, baseURL);
  const tokens = await oidc.authorizationCodeGrant(config, url, checks); // checks state, iss, nonce and the signature
  req.session.regenerate((error) => { // a new session id, so that nobody knows it from before the sign-in
    if (error) {
      return next(error);
    }
    keep(req.session, tokens);
    req.session.user = tokens.claims();
    res.redirect("/");
  });
});

/** keep stores the tokens of a reply. A refresh may leave out the ones that have not changed. */
function keep(session, tokens) {
  session.accessToken = tokens.access_token;
  session.expires = Date.now() + (tokens.expiresIn() ?? 0) * 1000;
  session.refreshToken = tokens.refresh_token ?? session.refreshToken;
  session.idToken = tokens.id_token ?? session.idToken;
}

app.post("/logout", (req, res, next) => {
  const { idToken } = req.session;
  req.session.destroy((error) => {
    if (error) {
      return next(error);
    }
    res.redirect(303, idToken ? oidc.buildEndSessionUrl(config, { id_token_hint: idToken, post_logout_redirect_uri: postLogoutURI }).href : "/");
  });
});

app.use((error, req, res, next) => {
  console.error(req.path, error.code ?? error.name, error.error ?? error.message); // no tokens, and no parameters
  if (res.headersSent) {
    return next(error);
  }
  if (error instanceof oidc.ResponseBodyError && error.error === "invalid_grant") { // the session at the server has ended
    return req.session.destroy(() => res.redirect("/login"));
  }
  res.status(error instanceof oidc.AuthorizationResponseError ? 400 : 502).send("That did not work. Go back and sign in again.");
});

app.listen(__PORT__, "localhost", () => console.log("Open", baseURL));
`,m=`-- app.py --
# pip install flask authlib requests
import os
import secrets
from urllib.parse import urlencode

from authlib.common.errors import AuthlibBaseError
from authlib.integrations.flask_client import OAuth
from flask import Flask, abort, redirect, render_template_string, request, session

ISSUER = "__ISSUER__"
CLIENT_ID = "__CLIENT_ID__"
CLIENT_SECRET = os.environ.get("CLIENT_SECRET")
BASE_URL = "__BASE_URL__"
CALLBACK_PATH = "__REDIRECT_PATH__"
REDIRECT_URI = "__REDIRECT_URI__"
POST_LOGOUT_URI = "__POST_LOGOUT_URI__"
SCOPE = "__SCOPES__"
API_URL = ""  # the identifier of your API, if the application calls one

app = Flask(__name__)
app.config.update(
    # Sessions end with the process unless SESSION_SECRET is set.
    SECRET_KEY=os.environ.get("SESSION_SECRET") or secrets.token_hex(32),
    SESSION_COOKIE_NAME="example",
    SESSION_COOKIE_HTTPONLY=True,
    SESSION_COOKIE_SAMESITE="Lax",
    SESSION_COOKIE_SECURE=BASE_URL.startswith("https://"),
)
# Flask keeps its session in a signed cookie that is not encrypted, so tokens stay on the server.
# With several processes, keep them in a database.
tokens = {}


def keep(token, **_):
    """Store the tokens of a sign-in or a refresh. They are refreshed ten seconds before they expire."""
    token["expires_at"] -= 10
    tokens[session["id"]] = {**tokens.get(session["id"], {}), **token}


oauth = OAuth(app)
oauth.register(
    "postern",
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_id=CLIENT_ID,
    client_secret=CLIENT_SECRET,
    fetch_token=lambda: tokens.get(session.get("id")),
    update_token=keep,
    client_kwargs={
        "scope": SCOPE,
        "code_challenge_method": "S256",  # Authlib sends state and nonce always, PKCE only with this
        "token_endpoint_auth_method": "client_secret_basic" if CLIENT_SECRET else "none",
        "default_timeout": 10,
    },
)


@app.get("/")
def home():
    return render_template_string(
        """{% if user %}Signed in as {{ user.sub }} <form method="post" action="/logout"><button>Sign out</button></form>
        {% else %}<a href="/login">Sign in</a>{% endif %}""", user=session.get("user") if session.get("id") in tokens else None)


@app.get("/login")
def login():
    return oauth.postern.authorize_redirect(REDIRECT_URI, **({"resource": API_URL} if API_URL else {}))


@app.get(CALLBACK_PATH)
def callback():
    if request.args.get("iss") != ISSUER:  # RFC 9207
        abort(400, "The answer is from another issuer.")
    token = oauth.postern.authorize_access_token()  # checks state, nonce and the signature
    session.clear()
    session["id"], session["user"] = secrets.token_urlsafe(), token["userinfo"]
    keep(token)
    return redirect("/")


@app.post("/logout")
def logout():
    token = tokens.pop(session.get("id"), None)
    session.clear()
    if not token:
        return redirect("/", 303)
    query = {"client_id": CLIENT_ID, "id_token_hint": token["id_token"], "post_logout_redirect_uri": POST_LOGOUT_URI}
    return redirect(oauth.postern.load_server_metadata()["end_session_endpoint"] + "?" + urlencode(query), 303)


@app.errorhandler(AuthlibBaseError)
def failed(error):
    app.logger.warning("%s: %s", request.path, error.error)  # no tokens, and no parameters
    if error.error == "invalid_grant":  # the session at the server has ended
        tokens.pop(session.get("id"), None)
    return "That did not work. Go back and sign in again.", 400


if __name__ == "__main__":
    app.run("localhost", __PORT__)  # in production, use a WSGI server such as gunicorn
`,h=`-- run.sh --
# Start a sign-in. The reply has executionId, and the inputs and actions of the first step.
curl "__ISSUER__/flow/execute" -H 'Content-Type: application/json' \\
  -d '{"applicationId":"__APPLICATION_ID__","flowType":"AUTHENTICATION"}'

# Answer the step, with a value for each input and the challengeToken of the last reply. Repeat it
# until flowStatus is COMPLETE; the assertion is then a JWT that __ISSUER__/oauth2/jwks verifies.
curl "__ISSUER__/flow/execute" -H 'Content-Type: application/json' \\
  -d '{"executionId":"…","challengeToken":"…","action":"…","inputs":{"…":"…"}}'
`,g=`-- add-source.sh --
# The redirect URI is __REDIRECT_URI__
gitea admin auth add-oauth --name postern --provider openidConnect \\
  --auto-discover-url "__ISSUER__/.well-known/openid-configuration" \\
  --key "__CLIENT_ID__" --secret "$CLIENT_SECRET" --scopes profile --scopes email --scopes groups \\
  --group-claim-name groups --required-claim-name groups --required-claim-value gitea-users \\
  --admin-group gitea-admins --restricted-group gitea-restricted
-- app.ini --
[server]
ROOT_URL = __BASE_URL__/

[oauth2_client]
ENABLE_AUTO_REGISTRATION = true
USERNAME = userid
ACCOUNT_LINKING = login
`,_=`-- gitlab.rb --
gitlab_rails['omniauth_allow_single_sign_on'] = ['openid_connect']
gitlab_rails['omniauth_block_auto_created_users'] = false
gitlab_rails['omniauth_providers'] = [{
  name: "openid_connect",
  label: "Postern",
  args: {
    name: "openid_connect",
    scope: ["openid", "profile", "email", "groups"],
    response_type: "code",
    issuer: "__ISSUER__",
    discovery: true,
    client_auth_method: "basic",
    uid_field: "sub",
    pkce: true,
    client_options: {
      identifier: "__CLIENT_ID__",
      secret: "CLIENT_SECRET",
      redirect_uri: "__REDIRECT_URI__",
      gitlab: {
        groups_attribute: "groups",
        required_groups: ["gitlab-users", "gitlab-admins"],
        external_groups: ["gitlab-external"],
        admin_groups: ["gitlab-admins"]
      }
    }
  }
}]
`,v=`-- main.go --
// go get github.com/coreos/go-oidc/v3/oidc golang.org/x/oauth2
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"strings"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	issuer      = "__ISSUER__"
	clientID    = "__CLIENT_ID__"
	redirectURI = "__REDIRECT_URI__" // the port is replaced: the server accepts any port of a loopback address
	scope       = "__SCOPES__"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		log.Fatal(err)
	}
}

// run signs a user in with the browser (RFC 8252 section 7.3).
func run(ctx context.Context) error {
	ctx = oidc.ClientContext(ctx, &http.Client{Timeout: 10 * time.Second})
	provider, err := oidc.NewProvider(ctx, issuer)
	if err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer listener.Close()
	redirect, err := url.Parse(redirectURI)
	if err != nil {
		return err
	}
	redirect.Host = net.JoinHostPort(redirect.Hostname(), fmt.Sprint(listener.Addr().(*net.TCPAddr).Port))
	config := oauth2.Config{ClientID: clientID, Endpoint: provider.Endpoint(), RedirectURL: redirect.String(), Scopes: strings.Fields(scope)}
	config.Endpoint.AuthStyle = oauth2.AuthStyleInParams // a public client sends its client_id in the form
	state, nonce, verifier := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	answers := make(chan url.Values, 1)
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != redirect.Path || r.FormValue("state") != state {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintln(w, "You can close this page.")
		select {
		case answers <- r.Form:
		default: // a second answer
		}
	})}
	go server.Serve(listener)
	defer server.Close()
	fmt.Println("Open", config.AuthCodeURL(state, oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)))
	var answer url.Values
	select {
	case <-ctx.Done():
		return ctx.Err()
	case answer = <-answers:
	}
	if answer.Get("iss") != issuer { // RFC 9207
		return errors.New("the answer is from another issuer")
	}
	if code := answer.Get("error"); code != "" {
		return fmt.Errorf("the sign-in failed: %s: %s", code, answer.Get("error_description"))
	}
	token, err := config.Exchange(ctx, answer.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return err
	}
	raw, _ := token.Extra("id_token").(string)
	idToken, err := provider.Verifier(&oidc.Config{ClientID: clientID}).Verify(ctx, raw)
	if err != nil {
		return err
	}
	if idToken.Nonce != nonce {
		return errors.New("the ID token is not for this sign-in")
	}
	fmt.Println("Signed in as", idToken.Subject)
	return nil // config.TokenSource(ctx, token) refreshes the access token
}
`,y=`-- main.go --
// go get golang.org/x/oauth2
package main

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

func main() {
	config := clientcredentials.Config{
		ClientID:     "__CLIENT_ID__",
		ClientSecret: os.Getenv("CLIENT_SECRET"),
		TokenURL:     "__ISSUER__/oauth2/token",
		Scopes:       strings.Fields("__SCOPES__"),
		AuthStyle:    oauth2.AuthStyleInHeader,
		// EndpointParams: url.Values{"resource": {"https://api.example.org"}}, // for an API of your own
	}
	ctx := context.WithValue(context.Background(), oauth2.HTTPClient, &http.Client{Timeout: 10 * time.Second})
	token, err := config.Token(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("The access token expires at", token.Expiry)
	client := config.Client(ctx) // sends an access token, and gets the next one in time
	_ = client
}
`,b=`-- main.go --
// go get github.com/coreos/go-oidc/v3/oidc golang.org/x/oauth2
package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"html/template"
	"log"
	"maps"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"
)

const (
	issuer        = "__ISSUER__"
	clientID      = "__CLIENT_ID__"
	listen        = "localhost:__PORT__"
	baseURL       = "__BASE_URL__"
	callbackPath  = "__REDIRECT_PATH__"
	redirectURI   = "__REDIRECT_URI__"
	postLogoutURI = "__POST_LOGOUT_URI__"
	scope         = "__SCOPES__"
	apiURL        = "" // the identifier of your API, if the application calls one
)

var clientSecret = os.Getenv("CLIENT_SECRET")

// app is an OpenID Connect client with the sessions of its users.
type app struct {
	oauth    oauth2.Config
	verifier *oidc.IDTokenVerifier
	sessions sessions
	client   *http.Client
	metadata struct {
		Logout string \`json:"end_session_endpoint"\`
	}
}

func main() {
	a, err := newApp()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("Open", baseURL)
	server := &http.Server{Addr: listen, Handler: a.routes(), ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second, WriteTimeout: 30 * time.Second}
	log.Fatal(server.ListenAndServe())
}

// newApp reads the metadata of the issuer.
func newApp() (*app, error) {
	a := &app{sessions: sessions{byID: map[string]*userSession{}}, client: &http.Client{Timeout: 10 * time.Second}}
	provider, err := oidc.NewProvider(a.withClient(context.Background()), issuer)
	if err != nil {
		return nil, fmt.Errorf("cannot read the metadata of %s; does the server run? %w", issuer, err)
	}
	if err := provider.Claims(&a.metadata); err != nil {
		return nil, err
	}
	a.oauth = oauth2.Config{ClientID: clientID, ClientSecret: clientSecret,
		Endpoint: provider.Endpoint(), RedirectURL: redirectURI, Scopes: strings.Fields(scope)}
	if clientSecret == "" {
		a.oauth.Endpoint.AuthStyle = oauth2.AuthStyleInParams // a public client sends its client_id in the form
	}
	a.verifier = provider.Verifier(&oidc.Config{ClientID: clientID})
	return a, nil
}

// withClient lets the libraries use the HTTP client of the application, which has a timeout.
func (a *app) withClient(ctx context.Context) context.Context {
	return oidc.ClientContext(ctx, a.client)
}

// login sends the browser to the issuer. A cookie binds the answer to this browser.
func (a *app) login(w http.ResponseWriter, r *http.Request) error {
	state, nonce, verifier := rand.Text(), rand.Text(), oauth2.GenerateVerifier()
	http.SetCookie(w, a.cookie("sign-in-"+state, nonce+"."+verifier, 10*time.Minute))
	options := []oauth2.AuthCodeOption{oidc.Nonce(nonce), oauth2.S256ChallengeOption(verifier)}
	if apiURL != "" {
		options = append(options, oauth2.SetAuthURLParam("resource", apiURL)) // the API that the access token is for
	}
	http.Redirect(w, r, a.oauth.AuthCodeURL(state, options...), http.StatusFound)
	return nil
}

// callback receives the answer of the issuer and starts a session.
func (a *app) callback(w http.ResponseWriter, r *http.Request) error {
	state := r.FormValue("state")
	pending, err := r.Cookie("sign-in-" + state)
	if err != nil || state == "" {
		return badRequest("this browser did not start this sign-in, or more than 10 minutes ago")
	}
	http.SetCookie(w, a.cookie(pending.Name, "", -1)) // a state is for one answer
	if r.FormValue("iss") != issuer {                 // RFC 9207
		return badRequest("the answer is from another issuer")
	}
	if code := r.FormValue("error"); code != "" {
		return badRequest(code + ": " + r.FormValue("error_description"))
	}
	nonce, verifier, _ := strings.Cut(pending.Value, ".")
	ctx := a.withClient(r.Context())
	token, err := a.oauth.Exchange(ctx, r.FormValue("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		return fmt.Errorf("exchanging the code: %w", err)
	}
	raw, _ := token.Extra("id_token").(string)
	idToken, err := a.verifier.Verify(ctx, raw)
	if err != nil {
		return fmt.Errorf("the ID token: %w", err)
	}
	s := &userSession{idToken: raw, tokens: a.oauth.TokenSource(a.withClient(context.Background()), token)}
	if err := idToken.Claims(&s.User); err != nil || idToken.Nonce != nonce {
		return badRequest("the ID token is not for this sign-in")
	}
	http.SetCookie(w, a.cookie("session", a.sessions.add(s), sessionLifetime)) // always a new id
	http.Redirect(w, r, "/", http.StatusFound)
	return nil
}

// logout ends the session here, and then at the issuer.
func (a *app) logout(w http.ResponseWriter, r *http.Request) error {
	s := a.sessions.remove(r)
	http.SetCookie(w, a.cookie("session", "", -1))
	if s == nil {
		http.Redirect(w, r, "/", http.StatusSeeOther)
		return nil
	}
	query := url.Values{"client_id": {clientID}, "id_token_hint": {s.idToken}, "post_logout_redirect_uri": {postLogoutURI}}
	http.Redirect(w, r, a.metadata.Logout+"?"+query.Encode(), http.StatusSeeOther)
	return nil
}

func (a *app) home(w http.ResponseWriter, r *http.Request) error {
	return page.Execute(w, a.sessions.of(r))
}

var page = template.Must(template.New("").Parse(\`<!doctype html><title>Shop</title>
{{with .}}<p>Signed in as {{or .User.Name .User.Username .User.ID}}</p><form method="post" action="/logout"><button>Sign out</button></form>
{{else}}<p><a href="/login">Sign in</a></p>{{end}}\`))

const sessionLifetime = 8 * time.Hour

// userSession is a signed-in user. Tokens stay on the server; the browser gets a random id only.
type userSession struct {
	User struct {
		Name     string \`json:"name"\`
		Username string \`json:"preferred_username"\`
		ID       string \`json:"sub"\`
	}
	idToken string
	tokens  oauth2.TokenSource // refreshes the access token
	expires time.Time
}

// sessions are kept in memory. With several instances, keep them in a database.
type sessions struct {
	mu   sync.Mutex
	byID map[string]*userSession
}

// add stores a session and returns its id.
func (all *sessions) add(s *userSession) (id string) {
	all.mu.Lock()
	defer all.mu.Unlock()
	for id, old := range all.byID {
		if time.Now().After(old.expires) {
			delete(all.byID, id)
		}
	}
	id, s.expires = rand.Text(), time.Now().Add(sessionLifetime)
	all.byID[id] = s
	return id
}

// of returns the session of a browser; nil if there is none.
func (all *sessions) of(r *http.Request) *userSession {
	c, err := r.Cookie("session")
	if err != nil {
		return nil
	}
	all.mu.Lock()
	defer all.mu.Unlock()
	if s := all.byID[c.Value]; s != nil && time.Now().Before(s.expires) {
		return s
	}
	return nil
}

// remove ends the session of a browser, and returns it.
func (all *sessions) remove(r *http.Request) *userSession {
	s := all.of(r)
	all.mu.Lock()
	defer all.mu.Unlock()
	maps.DeleteFunc(all.byID, func(_ string, one *userSession) bool { return one == s })
	return s
}

// cookie returns a cookie for this host. A lifetime below zero deletes it.
func (a *app) cookie(name, value string, lifetime time.Duration) *http.Cookie {
	age := -1
	if lifetime > 0 {
		age = int(lifetime.Seconds())
	}
	return &http.Cookie{Name: name, Value: value, Path: "/", MaxAge: age, HttpOnly: true,
		SameSite: http.SameSiteLaxMode, Secure: strings.HasPrefix(baseURL, "https://")}
}

func (a *app) routes() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", a.handle(a.home))
	mux.HandleFunc("GET /login", a.handle(a.login))
	mux.HandleFunc("GET "+callbackPath, a.handle(a.callback))
	mux.HandleFunc("POST /logout", a.handle(a.logout))
	return mux
}

// handle writes the error of a handler.
func (a *app) handle(next func(http.ResponseWriter, *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
		var bad badRequest
		if err := next(w, r); errors.As(err, &bad) {
			http.Error(w, string(bad)+"\\nGo back to "+baseURL+" and sign in again.", http.StatusBadRequest)
		} else if err != nil {
			log.Print(r.URL.Path, ": ", err)
			http.Error(w, "That did not work; the log of the application has the reason.", http.StatusBadGateway)
		}
	}
}

// badRequest is an error that the page shows.
type badRequest string

func (e badRequest) Error() string { return string(e) }
`,x=`-- grafana.ini --
[server]
; the redirect URI is __REDIRECT_URI__
root_url = __BASE_URL__/

[auth.generic_oauth]
enabled = true
name = Postern
client_id = __CLIENT_ID__
client_secret = $__env{CLIENT_SECRET}
auth_url = __ISSUER__/oauth2/authorize
token_url = __ISSUER__/oauth2/token
api_url = __ISSUER__/oauth2/userinfo
auth_style = InHeader
scopes = __SCOPES__
use_pkce = true
use_refresh_token = true
login_attribute_path = sub
name_attribute_path = name
email_attribute_path = email
groups_attribute_path = groups
role_attribute_path = contains(groups[*], 'grafana-admins') && 'Admin' || contains(groups[*], 'grafana-editors') && 'Editor' || contains(groups[*], 'grafana-viewers') && 'Viewer'
role_attribute_strict = true
allow_sign_up = true
signout_redirect_url = __ISSUER__/oauth2/logout?client_id=__CLIENT_ID__&post_logout_redirect_uri=__POST_LOGOUT_URI_ENCODED__
`,S=`-- SignIn.swift --
// Swift package https://github.com/openid/AppAuth-iOS
import AppAuth

final class SignIn {
    private var session: OIDExternalUserAgentSession?
    private(set) var state: OIDAuthState? // store it in the Keychain

    func start(from view: UIViewController, done: @escaping (Error?) -> Void) {
        OIDAuthorizationService.discoverConfiguration(forIssuer: URL(string: "__ISSUER__")!) { configuration, error in
            guard let configuration else { return done(error) }
            let request = OIDAuthorizationRequest(
                configuration: configuration, clientId: "__CLIENT_ID__", clientSecret: nil,
                scopes: "__SCOPES__".components(separatedBy: " "),
                redirectURL: URL(string: "__REDIRECT_URI__")!, responseType: OIDResponseTypeCode,
                additionalParameters: nil)
            self.session = OIDAuthState.authState(byPresenting: request, presenting: view) { state, error in
                self.state = state
                done(error)
            }
        }
    }

    /// Runs an action with an access token, which is refreshed if it has expired.
    func call(_ action: @escaping (String) -> Void) {
        state?.performAction { token, _, _ in
            if let token { action(token) }
        }
    }

    func signOut(from view: UIViewController) {
        guard let state, let token = state.lastTokenResponse?.idToken,
              let agent = OIDExternalUserAgentIOS(presenting: view) else { return }
        let request = OIDEndSessionRequest(
            configuration: state.lastAuthorizationResponse.request.configuration, idTokenHint: token,
            postLogoutRedirectURL: URL(string: "__POST_LOGOUT_URI__")!, additionalParameters: nil)
        session = OIDAuthorizationService.present(request, externalUserAgent: agent) { _, _ in self.state = nil }
    }
}
`,C=`-- index.html --
<!doctype html>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'self'; connect-src http: https:; base-uri 'none'">
<title>Example</title>
<h1>Example</h1>
<p id="alert" role="alert"></p>
<button id="sign-in">Sign in</button>
<div id="signed-in" hidden>
  <p>Signed in as <b id="user"></b></p>
  <p><button id="sign-out">Sign out</button></p>
</div>
<script type="module" src="app.js"><\/script>
-- app.js --
const issuer = "__ISSUER__";
const clientID = "__CLIENT_ID__";
const redirectURI = "__REDIRECT_URI__"; // the address of this page
const postLogoutURI = "__POST_LOGOUT_URI__";
const scope = "__SCOPES__";
const resource = ""; // the identifier of your API, if the page calls one

const given = new URLSearchParams(location.search);

const base64url = (bytes) => btoa(String.fromCharCode(...bytes)).replace(/\\+/g, "-").replace(/\\//g, "_").replace(/=+$/, "");
const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));
const sha256 = async (text) => base64url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))));

/** metadata returns the endpoints of the issuer. */
async function metadata() {
  const reply = await fetch(\`\${issuer}/.well-known/openid-configuration\`, { signal: AbortSignal.timeout(10_000) });
  const found = await reply.json();
  if (found.issuer !== issuer) {
    throw new Error(\`the issuer is \${found.issuer}, expected \${issuer}\`);
  }
  return found;
}

async function signIn() {
  const pending = { state: random(), nonce: random(), verifier: random() };
  sessionStorage.setItem("pending", JSON.stringify(pending));
  const { authorization_endpoint } = await metadata();
  location.assign(\`\${authorization_endpoint}?\${new URLSearchParams({
    response_type: "code", client_id: clientID, redirect_uri: redirectURI, scope,
    ...(resource && { resource }),
    state: pending.state, nonce: pending.nonce, code_challenge: await sha256(pending.verifier), code_challenge_method: "S256",
  })}\`);
}

/** finish exchanges the code in the address of the page. */
async function finish() {
  const pending = JSON.parse(sessionStorage.getItem("pending") ?? "{}");
  sessionStorage.removeItem("pending");
  history.replaceState(null, "", redirectURI); // a reload must not send the code again
  if (!pending.state || given.get("state") !== pending.state || given.get("iss") !== issuer) {
    throw new Error("this page did not start this sign-in");
  }
  if (given.has("error")) {
    throw new Error(given.get("error_description") ?? given.get("error"));
  }
  const tokens = await requestTokens({ grant_type: "authorization_code", code: given.get("code"), redirect_uri: redirectURI, code_verifier: pending.verifier });
  if (claims(tokens.id_token).nonce !== pending.nonce) {
    throw new Error("the ID token is not for this sign-in");
  }
}

/** requestTokens stores the tokens that the token endpoint returns. Refresh tokens are for one use. */
async function requestTokens(form) {
  const { token_endpoint } = await metadata();
  const reply = await fetch(token_endpoint, { method: "POST", credentials: "omit", signal: AbortSignal.timeout(10_000),
    body: new URLSearchParams({ client_id: clientID, ...form }) });
  const body = await reply.json();
  if (!reply.ok) {
    sessionStorage.removeItem("tokens");
    throw new Error(body.error_description ?? body.error);
  }
  const tokens = { ...stored(), ...body, expires: Date.now() + body.expires_in * 1000 };
  sessionStorage.setItem("tokens", JSON.stringify(tokens));
  return tokens;
}

const stored = () => JSON.parse(sessionStorage.getItem("tokens") ?? "null");

/** claims decodes an ID token. It came from the token endpoint, so its signature needs no check. */
function claims(token) {
  const bytes = Uint8Array.from(atob(token.split(".")[1].replace(/-/g, "+").replace(/_/g, "/")), (c) => c.charCodeAt(0));
  return JSON.parse(new TextDecoder().decode(bytes));
}

async function signOut() {
  const { id_token } = stored();
  sessionStorage.removeItem("tokens");
  const { end_session_endpoint } = await metadata();
  location.assign(\`\${end_session_endpoint}?\${new URLSearchParams({ client_id: clientID, id_token_hint: id_token, post_logout_redirect_uri: postLogoutURI })}\`);
}

/** show displays the button that fits, and what the ID token says about the user. */
function show() {
  const tokens = stored();
  const user = tokens && claims(tokens.id_token);
  document.getElementById("user").textContent = user ? user.name ?? user.preferred_username ?? user.sub : "";
  document.getElementById("signed-in").hidden = !user;
  document.getElementById("sign-in").hidden = Boolean(user);
}

/** attempt runs a step, and shows why it failed. */
async function attempt(step) {
  try {
    await step();
    document.getElementById("alert").textContent = "";
  } catch (error) {
    document.getElementById("alert").textContent = error.message;
  }
  show();
}

for (const [id, step] of Object.entries({ "sign-in": signIn, "sign-out": signOut })) {
  document.getElementById(id).addEventListener("click", () => attempt(step));
}

await attempt(given.has("state") ? finish : async () => {});
`,w=`-- jenkins.yaml --
# The redirect URI is __REDIRECT_URI__
jenkins:
  securityRealm:
    oic:
      clientId: __CLIENT_ID__
      clientSecret: \${CLIENT_SECRET}
      serverConfiguration:
        wellKnown:
          wellKnownOpenIDConfigurationUrl: __ISSUER__/.well-known/openid-configuration
          scopesOverride: openid profile email groups
      pkceEnabled: true
      userNameField: sub
      fullNameFieldName: name
      emailFieldName: email
      groupsFieldName: groups
      logoutFromOpenidProvider: true
      postLogoutRedirectUrl: __BASE_URL__/OicLogout
      escapeHatchEnabled: true
      escapeHatchUsername: emergency
      escapeHatchSecret: \${ESCAPE_HATCH_SECRET}
      escapeHatchGroup: jenkins-admins
  authorizationStrategy:
    globalMatrix:
      entries:
        - group: {name: jenkins-admins, permissions: [Overall/Administer]}
        - group: {name: jenkins-developers, permissions: [Overall/Read, Job/Read, Job/Build, Job/Cancel]}
`,T=`-- authentication.yaml --
apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
  - issuer:
      url: __ISSUER__
      audiences: [__CLIENT_ID__]
    claimValidationRules:
      - expression: dyn(claims.?groups.orValue([])).exists(group, group.startsWith('kubernetes-'))
        message: the user is in no group that begins with kubernetes-
    claimMappings:
      username: {claim: sub, prefix: "postern:"}
      groups:
        expression: dyn(claims.?groups.orValue([])).filter(group, group.startsWith('kubernetes-')).map(group, 'postern:' + group)
      extra:
        - key: id.example.org/username
          valueExpression: claims.?preferred_username.orValue('')
    userValidationRules:
      - expression: "!user.username.startsWith('system:') && user.groups.all(group, !group.startsWith('system:'))"
        message: names that begin with system are reserved
-- bindings.yaml --
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: postern-admins}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects:
  - {apiGroup: rbac.authorization.k8s.io, kind: Group, name: "postern:kubernetes-admins"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: postern-viewers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}
subjects:
  - {apiGroup: rbac.authorization.k8s.io, kind: Group, name: "postern:kubernetes-viewers"}
-- set-credentials.sh --
# kubelogin sends the browser to __REDIRECT_URI__
kubectl config set-credentials oidc --exec-api-version=client.authentication.k8s.io/v1 \\
  --exec-command=kubectl --exec-arg=oidc-login --exec-arg=get-token \\
  --exec-arg=--oidc-issuer-url=__ISSUER__ --exec-arg=--oidc-client-id=__CLIENT_ID__ \\
  --exec-arg=--oidc-extra-scope=profile --exec-arg=--oidc-extra-scope=groups
`,E=`-- minio.env --
# The redirect URI is __REDIRECT_URI__
MINIO_IDENTITY_OPENID_CONFIG_URL="__ISSUER__/.well-known/openid-configuration"
MINIO_IDENTITY_OPENID_CLIENT_ID="__CLIENT_ID__"
MINIO_IDENTITY_OPENID_CLIENT_SECRET="$CLIENT_SECRET"
MINIO_IDENTITY_OPENID_CLAIM_NAME="policy"
MINIO_IDENTITY_OPENID_SCOPES="openid,profile,email"
MINIO_IDENTITY_OPENID_DISPLAY_NAME="Postern"
MINIO_BROWSER_REDIRECT_URL="__BASE_URL__"
`,D=`-- add-provider.sh --
# The redirect URI is __REDIRECT_URI__
occ user_oidc:provider Postern --clientid="__CLIENT_ID__" --clientsecret-env=CLIENT_SECRET \\
  --discoveryuri="__ISSUER__/.well-known/openid-configuration" --scope="openid profile email groups" \\
  --unique-uid=0 --mapping-uid=sub --mapping-display-name=name --mapping-email=email \\
  --mapping-groups=groups --group-provisioning=1 --group-restrict-login-to-whitelist=1 --send-id-token-hint=1
`,O=`-- auth.ts --
// npm install next-auth@beta; set AUTH_SECRET
import NextAuth from "next-auth";

export const { handlers, auth, signIn, signOut } = NextAuth({
  providers: [{
    id: "postern", name: "Postern", type: "oidc",
    issuer: "__ISSUER__", // Auth.js checks iss of the answer
    clientId: "__CLIENT_ID__",
    clientSecret: process.env.CLIENT_SECRET,
    client: { token_endpoint_auth_method: "client_secret_basic" },
    authorization: { params: { scope: "__SCOPES__" } },
    checks: ["pkce", "state", "nonce"],
  }],
  callbacks: {
    jwt({ token, account, profile }) { // the cookie of the session, encrypted
      return account ? { ...token, sub: profile!.sub!, name: profile!.name ?? profile!.preferred_username, idToken: account.id_token } : token;
    },
    session({ session, token }) {
      return { ...session, user: { ...session.user, id: token.sub! } };
    },
  },
});
-- app/api/auth/[...nextauth]/route.ts --
// The redirect URI is __REDIRECT_URI__
import { handlers } from "@/auth";

export const { GET, POST } = handlers;
-- app/page.tsx --
import { auth, signIn } from "@/auth";

export default async function Page() {
  const session = await auth();
  if (!session) {
    return <form action={async () => { "use server"; await signIn("postern"); }}><button id="sign-in">Sign in</button></form>;
  }
  return <form action="/logout" method="post"><b id="user">{session.user?.name}</b> <button id="sign-out">Sign out</button></form>;
}
-- app/logout/route.ts --
import { signOut } from "@/auth";
import { getToken } from "next-auth/jwt";
import { type NextRequest, NextResponse } from "next/server";

export async function POST(request: NextRequest) {
  const home = "__POST_LOGOUT_URI__";
  const token = await getToken({ req: request, secret: process.env.AUTH_SECRET, secureCookie: home.startsWith("https:") });
  await signOut({ redirect: false });
  const query = new URLSearchParams({ client_id: "__CLIENT_ID__", post_logout_redirect_uri: home });
  if (token?.idToken) {
    query.set("id_token_hint", token.idToken as string);
  }
  return NextResponse.redirect(\`__ISSUER__/oauth2/logout?\${query}\`, 303);
}
`,k=`-- oauth2-proxy.cfg --
provider = "oidc"
oidc_issuer_url = "__ISSUER__"
client_id = "__CLIENT_ID__"
client_secret_file = "client-secret"
cookie_secret_file = "cookie-secret"
redirect_url = "__REDIRECT_URI__"
scope = "__SCOPES__"
code_challenge_method = "S256"
insecure_oidc_skip_nonce = false
email_domains = ["*"]
oidc_email_claim = "sub"
cookie_secure = __IS_HTTPS__
skip_provider_button = true
cookie_refresh = "30m"
backend_logout_url = "__ISSUER__/oauth2/logout?id_token_hint={id_token}"
http_address = "127.0.0.1:__PORT__"
upstreams = ["http://127.0.0.1:8081"]
-- start.sh --
umask 077
printf %s "$CLIENT_SECRET" > client-secret
openssl rand -out cookie-secret 32
oauth2-proxy --config oauth2-proxy.cfg
`,A=`-- sign-in.ts --
// npm install oidc-client-ts
import { UserManager } from "oidc-client-ts";

const issuer = "__ISSUER__";
const users = new UserManager({
  authority: issuer,
  client_id: "__CLIENT_ID__",
  redirect_uri: "__REDIRECT_URI__",
  post_logout_redirect_uri: "__POST_LOGOUT_URI__",
  scope: "__SCOPES__",
});

/** signedInUser returns the user, or starts a sign-in. The library checks state and PKCE. */
export async function signedInUser() {
  const given = new URLSearchParams(location.search);
  if (!given.has("state")) {
    return (await users.getUser()) ?? users.signinRedirect();
  }
  const address = location.href;
  history.replaceState(null, "", location.pathname); // a reload must not send the code again
  if (given.get("iss") !== issuer) { // RFC 9207
    throw new Error("the answer is from another issuer");
  }
  return users.signinRedirectCallback(address);
}

/** signOut ends the session here and at the issuer. */
export const signOut = () => users.signoutRedirect();
`,j=`-- callback.php --
<?php // callback.php; composer require jumbojett/openid-connect-php
require 'vendor/autoload.php';

session_set_cookie_params(['httponly' => true, 'secure' => str_starts_with('__REDIRECT_URI__', 'https:'), 'samesite' => 'Lax']);
session_start();

$oidc = new Jumbojett\\OpenIDConnectClient('__ISSUER__', '__CLIENT_ID__', getenv('CLIENT_SECRET'));
$oidc->setRedirectURL('__REDIRECT_URI__');
$oidc->setCodeChallengeMethod('S256');
$oidc->setTimeout(10);
$oidc->addScope(explode(' ', '__SCOPES__'));

try {
    $oidc->authenticate(); // redirects to the sign-in; at the answer it checks state, nonce and signature
} catch (Jumbojett\\OpenIDConnectClientException $e) {
    error_log('sign-in: ' . $e->getMessage());
    http_response_code(400);
    exit('That did not work. Go back and sign in again.');
}

session_regenerate_id(true);
$_SESSION['user'] = $oidc->getVerifiedClaims();
$_SESSION['id_token'] = $oidc->getIdToken();
$_SESSION['refresh_token'] = $oidc->getRefreshToken();
header('Location: /');
-- logout.php --
<?php // link to it with a form: POST
require 'vendor/autoload.php';

session_start();
$oidc = new Jumbojett\\OpenIDConnectClient('__ISSUER__', '__CLIENT_ID__', getenv('CLIENT_SECRET'));
$token = $_SESSION['id_token'] ?? null;
session_destroy();
if ($token) {
    $oidc->signOut($token, '__POST_LOGOUT_URI__');
} else {
    header('Location: /');
}
`,M=`-- service.py --
# pip install authlib requests
import os

from authlib.integrations.requests_client import OAuth2Session

client = OAuth2Session("__CLIENT_ID__", os.environ["CLIENT_SECRET"], scope="__SCOPES__" or None)
# For an API of your own, add the argument resource="https://api.example.org".
client.fetch_token("__ISSUER__/oauth2/token", grant_type="client_credentials", timeout=10)
`,N=`-- postern.ts --
// npm install react react-dom @thunderid/react

/** The address of Postern: its server.public_url, without a trailing slash. */
export const baseUrl = "__ISSUER__";

/** The clientId of the application at Postern. It is public: there is no secret in a browser. */
export const clientId = "__CLIENT_ID__";

/**
 * The requested scopes. profile and email put the name and the address into the
 * ID token; without them the app only gets an id.
 */
export const scopes = "__SCOPES__".split(" ");

/** The redirect URI, and the address to which a sign-out returns. Register both to the letter. */
export const redirectUri = "__REDIRECT_URI__";
export const postLogoutUri = "__POST_LOGOUT_URI__";
-- main.tsx --
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { ThunderIDProvider } from "@thunderid/react";
import { App } from "./App";
import { baseUrl, clientId, postLogoutUri, redirectUri, scopes } from "./postern";

createRoot(document.getElementById("root")!).render(
  <StrictMode>
    <ThunderIDProvider
      baseUrl={baseUrl}
      clientId={clientId}
      scopes={scopes}
      afterSignInUrl={redirectUri}
      afterSignOutUrl={postLogoutUri}
      tokenLifecycle={{ refreshToken: { autoRefresh: true } }}
    >
      <App />
    </ThunderIDProvider>
  </StrictMode>,
);
-- App.tsx --
import { useEffect, useState } from "react";
import { SignedIn, SignedOut, SignInButton, useThunderID } from "@thunderid/react";
import { useSignOut } from "./useSignOut";

export function App() {
  const { isLoading } = useThunderID();
  if (isLoading) return <p>One moment…</p>;
  return (
    <main>
      <SignedOut>
        <h1>Welcome</h1>
        {/* Postern's page also signs people up, if the application allows it. */}
        <SignInButton id="sign-in">Sign in</SignInButton>
      </SignedOut>
      <SignedIn>
        <Account />
      </SignedIn>
    </main>
  );
}

/** The user's id. The SDK leaves it out of user. */
function useSubject() {
  const { getDecodedIdToken } = useThunderID();
  const [subject, setSubject] = useState("");
  useEffect(() => {
    getDecodedIdToken().then(({ sub }) => setSubject(sub ?? ""), () => setSubject(""));
  }, [getDecodedIdToken]);
  return subject;
}

/** The user's claims in the ID token. */
function Account() {
  const { user } = useThunderID();
  const subject = useSubject();
  const signOut = useSignOut();
  return (
    <>
      <h1>Hello, {user?.given_name ?? user?.preferred_username}</h1>
      <dl>
        <dt>Username</dt>
        <dd id="username">{user?.preferred_username}</dd>
        <dt>Email</dt>
        <dd id="email">{user?.email}</dd>
        <dt>Id</dt>
        <dd id="sub">{subject}</dd>
      </dl>
      <button id="sign-out" onClick={signOut}>Sign out</button>
    </>
  );
}
-- useSignOut.ts --
import { useThunderID } from "@thunderid/react";
import { baseUrl, clientId, postLogoutUri } from "./postern";

/**
 * Returns a function that signs out of the app and of Postern, and returns to the app
 * (OpenID Connect RP-Initiated Logout).
 *
 * The SDK's own signOut, and its SignOutButton, end only the app's session and
 * request a new one at once, which Postern grants silently while its own
 * session lasts: users could not sign out.
 */
export function useSignOut(): () => Promise<void> {
  const { getIdToken, clearSession } = useThunderID();
  return async () => {
    const idToken = await getIdToken();
    await clearSession();
    window.location.assign(\`\${baseUrl}/oauth2/logout?\` + new URLSearchParams({
      id_token_hint: idToken,
      client_id: clientId,
      post_logout_redirect_uri: postLogoutUri,
    }));
  };
}
`,P=`-- src/main/resources/application.yml --
spring:
  security:
    oauth2:
      client:
        provider:
          postern:
            issuer-uri: "__ISSUER__"
            user-name-attribute: sub
        registration:
          postern:
            client-id: "__CLIENT_ID__"
            client-secret: \${CLIENT_SECRET}
            redirect-uri: "__REDIRECT_URI__" # its path is /login/oauth2/code/ and the name of the registration
            scope: "__SCOPES_COMMAS__"
-- SecurityConfiguration.java --
@Configuration
class SecurityConfiguration {
    @Bean
    SecurityFilterChain chain(HttpSecurity http, ClientRegistrationRepository clients) throws Exception {
        var resolver = new DefaultOAuth2AuthorizationRequestResolver(clients, "/oauth2/authorization");
        resolver.setAuthorizationRequestCustomizer(OAuth2AuthorizationRequestCustomizers.withPkce());
        var logout = new OidcClientInitiatedLogoutSuccessHandler(clients);
        logout.setPostLogoutRedirectUri("__POST_LOGOUT_URI__");
        return http
            .authorizeHttpRequests(requests -> requests.anyRequest().authenticated())
            .oauth2Login(login -> login.authorizationEndpoint(e -> e.authorizationRequestResolver(resolver)))
            .logout(l -> l.logoutSuccessHandler(logout))
            .build();
    }
}
`,F=[{name:`express`,title:`Node.js: Express, openid-client`,type:`web`,page:`docs/connect/node.md`,redirect:`http://localhost:3000/callback`,postLogout:`/`},{name:`nextjs`,title:`Next.js: Auth.js`,type:`web`,page:`docs/connect/node.md`,redirect:`http://localhost:3000/api/auth/callback/postern`,postLogout:`/`},{name:`go`,title:`Go: coreos/go-oidc, x/oauth2`,type:`web`,page:`docs/connect/go.md`,redirect:`http://localhost:3000/callback`,postLogout:`/`},{name:`flask`,title:`Python: Flask, Authlib`,type:`web`,page:`docs/connect/python.md`,redirect:`http://localhost:3000/callback`,postLogout:`/`},{name:`django`,title:`Python: Django, Authlib`,type:`web`,page:`docs/connect/python.md`,redirect:`http://localhost:8000/callback`,postLogout:`/`},{name:`spring`,title:`Java: Spring Boot`,type:`web`,page:`docs/connect/java.md`,redirect:`http://localhost:8080/login/oauth2/code/postern`,postLogout:`/`},{name:`aspnet`,title:`C#: ASP.NET Core`,type:`web`,page:`docs/connect/dotnet.md`,redirect:`https://localhost:7001/signin-oidc`,postLogout:`/signout-callback-oidc`},{name:`php`,title:`PHP: jumbojett/openid-connect-php`,type:`web`,page:`docs/connect/php.md`,redirect:`http://localhost:3000/callback.php`,postLogout:`/`},{name:`oauth2-proxy`,title:`nginx or any service: oauth2-proxy`,type:`web`,page:`docs/connect/oauth2-proxy.md`,redirect:`http://localhost:4180/oauth2/callback`},{name:`apache`,title:`Apache: mod_auth_openidc`,type:`web`,page:`docs/connect/apache.md`,redirect:`http://localhost:8080/oidc/callback`,postLogout:`/signed-out`},{name:`grafana`,title:`Grafana`,type:`web`,page:`docs/connect/grafana.md`,redirect:`http://localhost:3000/login/generic_oauth`,postLogout:`/login`,scopes:[`groups`]},{name:`gitea`,title:`Gitea`,type:`web`,page:`docs/connect/gitea.md`,redirect:`http://localhost:3000/user/oauth2/postern/callback`,scopes:[`groups`]},{name:`gitlab`,title:`GitLab`,type:`web`,page:`docs/connect/gitlab.md`,redirect:`http://localhost:8080/users/auth/openid_connect/callback`,scopes:[`groups`]},{name:`jenkins`,title:`Jenkins`,type:`web`,page:`docs/connect/jenkins.md`,redirect:`http://localhost:8080/securityRealm/finishLogin`,postLogout:`/OicLogout`,scopes:[`groups`]},{name:`minio`,title:`MinIO`,type:`web`,page:`docs/connect/minio.md`,redirect:`http://localhost:9001/oauth_callback`,claims:[{name:`policy`,source:`groups`,prefix:`minio-`,removePrefix:!0}]},{name:`nextcloud`,title:`Nextcloud`,type:`web`,page:`docs/connect/nextcloud.md`,redirect:`http://localhost:8080/apps/user_oidc/code`,postLogout:`/`,scopes:[`groups`],claims:[{name:`groups`,source:`groups`,prefix:`nextcloud-`,removePrefix:!0,scopes:[`groups`]}]},{name:`argocd`,title:`Argo CD`,type:`spa`,page:`docs/connect/argocd.md`,redirect:`https://localhost:8080/auth/callback`,postLogout:`/`,scopes:[`groups`]},{name:`kubernetes`,title:`Kubernetes`,type:`native`,page:`docs/connect/kubernetes.md`,redirect:`http://localhost:8000`,scopes:[`groups`]},{name:`react`,title:`React: @thunderid/react`,type:`spa`,page:`docs/connect/react.md`,redirect:`http://localhost:5173`,postLogout:`same`},{name:`javascript`,title:`A page without a library`,type:`spa`,page:`docs/connect/javascript.md`,redirect:`http://localhost:3000/`,postLogout:`same`},{name:`oidc-client-ts`,title:`Any page: oidc-client-ts`,type:`spa`,page:`docs/connect/javascript.md`,redirect:`http://localhost:5173/`,postLogout:`same`},{name:`ios`,title:`iOS, macOS: AppAuth`,type:`native`,page:`docs/connect/mobile.md`,redirect:`com.example.app:/callback`,postLogout:`/signed-out`},{name:`android`,title:`Android: AppAuth`,type:`native`,page:`docs/connect/mobile.md`,redirect:`com.example.app:/callback`,postLogout:`/signed-out`},{name:`go-cli`,title:`Go: command-line program`,type:`native`,page:`docs/connect/go.md`,redirect:`http://127.0.0.1/callback`},{name:`curl`,title:`curl`,type:`service`,page:`docs/connect/service.md`},{name:`go-service`,title:`Go: x/oauth2/clientcredentials`,type:`service`,page:`docs/connect/service.md`},{name:`python-service`,title:`Python: Authlib`,type:`service`,page:`docs/connect/service.md`},{name:`flow`,title:`curl`,type:`flow`}],I=Object.assign({"../../../../../internal/stacks/snippets/android.txt":s,"../../../../../internal/stacks/snippets/apache.txt":c,"../../../../../internal/stacks/snippets/argocd.txt":l,"../../../../../internal/stacks/snippets/aspnet.txt":u,"../../../../../internal/stacks/snippets/curl.txt":d,"../../../../../internal/stacks/snippets/django.txt":f,"../../../../../internal/stacks/snippets/express.txt":p,"../../../../../internal/stacks/snippets/flask.txt":m,"../../../../../internal/stacks/snippets/flow.txt":h,"../../../../../internal/stacks/snippets/gitea.txt":g,"../../../../../internal/stacks/snippets/gitlab.txt":_,"../../../../../internal/stacks/snippets/go-cli.txt":v,"../../../../../internal/stacks/snippets/go-service.txt":y,"../../../../../internal/stacks/snippets/go.txt":b,"../../../../../internal/stacks/snippets/grafana.txt":x,"../../../../../internal/stacks/snippets/ios.txt":S,"../../../../../internal/stacks/snippets/javascript.txt":C,"../../../../../internal/stacks/snippets/jenkins.txt":w,"../../../../../internal/stacks/snippets/kubernetes.txt":T,"../../../../../internal/stacks/snippets/minio.txt":E,"../../../../../internal/stacks/snippets/nextcloud.txt":D,"../../../../../internal/stacks/snippets/nextjs.txt":O,"../../../../../internal/stacks/snippets/oauth2-proxy.txt":k,"../../../../../internal/stacks/snippets/oidc-client-ts.txt":A,"../../../../../internal/stacks/snippets/php.txt":j,"../../../../../internal/stacks/snippets/python-service.txt":M,"../../../../../internal/stacks/snippets/react.txt":N,"../../../../../internal/stacks/snippets/spring.txt":P}),L={web:`secret`,spa:`public`,native:`public`,service:`machine`,flow:`flow`};function R(e){return F.filter(({type:t})=>L[t]===e.kind)}function z(e,t){let n=Object.entries(I).find(([t])=>t.endsWith(`/${e.name}.txt`))?.[1]??``,r=H(e,t),i=n.replace(/__([A-Z]+(?:_[A-Z]+)*)__/g,(e,t)=>r[t]===void 0?e:B(r[t])).split(/^-- (.+) --\n/m).slice(1);return i.flatMap((e,t)=>t%2==0?[{path:e,text:i[t+1]??``}]:[])}function B(e){return e.replace(/[^A-Za-z0-9\-._~:/?@&()*+,;=%[\] ]/gu,e=>[...new TextEncoder().encode(e)].map(e=>`%${e.toString(16).toUpperCase().padStart(2,`0`)}`).join(``))}function V(e,t){return!e.postLogout||e.postLogout===`same`?e.postLogout?t:``:URL.canParse(e.postLogout,t)?new URL(e.postLogout,t).href:``}function H(e,t){let n=t.redirectURIs[0]??e.redirect??``,r=t.postLogoutURIs[0]??V(e,n),i=W(n);return{ISSUER:t.issuer,APPLICATION_ID:t.applicationID,CLIENT_ID:t.clientID,SCOPES:t.scopes.join(` `),SCOPES_COMMAS:t.scopes.join(`, `),REDIRECT_URI:n,REDIRECT_PATH:i?.pathname||`/`,REDIRECT_SCHEME:i?.protocol.replace(`:`,``)??``,BASE_URL:i?`${i.protocol}//${i.host}`:``,IS_HTTPS:String(i?.protocol===`https:`),PORT:U(e,i),POST_LOGOUT_URI:r,POST_LOGOUT_PATH:W(r)?.pathname||`/`,POST_LOGOUT_URI_ENCODED:encodeURIComponent(r)}}function U(e,t){return t&&[`localhost`,`127.0.0.1`,`[::1]`].includes(t.hostname)&&t.port||(W(e.redirect??``)?.port??``)}var W=e=>URL.canParse(e)?new URL(e):void 0,G=t();function K({client:e,register:t}){let n=(0,o.useId)(),s=R(e),[c,l]=(0,o.useState)(s[0]?.name??``),u=s.find(e=>e.name===c);if(!u)return null;let d=e.postLogoutURIs.length===0&&e.redirectURIs[0]!==void 0?V(u,e.redirectURIs[0]):``;return(0,G.jsxs)(G.Fragment,{children:[(0,G.jsxs)(`div`,{className:`actions`,children:[(0,G.jsx)(`label`,{htmlFor:n,children:r(`Stack`)}),(0,G.jsx)(`select`,{id:n,value:c,onChange:e=>l(e.target.value),children:s.map(e=>(0,G.jsx)(`option`,{value:e.name,children:e.title},e.name))})]}),e.kind===`secret`||e.kind===`machine`?(0,G.jsx)(`p`,{className:`quiet`,children:r(`The code reads the client secret from the environment variable CLIENT_SECRET.`)}):null,d&&(0,G.jsxs)(`div`,{className:`notice`,children:[(0,G.jsxs)(`p`,{children:[r(`After a sign-out, the code sends users to this address, which is not registered:`),` `,(0,G.jsx)(`code`,{children:d})]}),t&&(0,G.jsx)(i,{onPress:()=>t(d),children:r(`Register it as a post-logout URI`)})]}),z(u,e).map(({path:e,text:t})=>(0,G.jsxs)(`section`,{"aria-label":e,children:[(0,G.jsxs)(`div`,{className:`actions`,children:[(0,G.jsx)(`code`,{children:e}),(0,G.jsx)(a,{text:t})]}),(0,G.jsx)(`pre`,{className:`snippet`,tabIndex:0,children:t})]},e))]})}export{K as default};