"""A web application with Flask and Authlib whose users sign in with Postern."""

import os
import secrets
from urllib.parse import urlencode

import requests
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.flask_client import OAuth
from flask import Flask, Response, abort, redirect, render_template_string, request, session

# The defaults fit `make run`.
ISSUER = os.environ.get("ISSUER", "http://localhost:8090")
PORT = int(os.environ.get("PORT", "3000"))
BASE_URL = os.environ.get("BASE_URL", f"http://localhost:{PORT}")
API_URL = os.environ.get("API_URL", "http://localhost:4000")  # the API that the access tokens are for
CALLBACK_PATH = "/callback"
REDIRECT_URI = BASE_URL + CALLBACK_PATH
POST_LOGOUT_URI = f"{BASE_URL}/"
SCOPE = "openid profile email"
CLIENT_ID = os.environ.get("CLIENT_ID", "EXAMPLE")  # a public client of `make run`
CLIENT_SECRET = os.environ.get("CLIENT_SECRET")

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

PAGE = """<!doctype html><title>Example</title><h1>Example</h1>
{% if user %}<p>Signed in as <b id="user">{{ user.name or user.preferred_username or user.sub }}</b></p>
<p><a id="api" href="/me">Call the API</a></p>
<form method="post" action="/logout"><button id="sign-out">Sign out</button></form>
{% else %}<p><a id="sign-in" href="/login">Sign in</a></p>{% endif %}"""


@app.get("/")
def home():
    return render_template_string(PAGE, user=session.get("user") if session.get("id") in tokens else None)


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


@app.get("/me")
def me():
    if session.get("id") not in tokens:
        return redirect("/login")
    reply = oauth.postern.get(f"{API_URL}/me")  # with the access token, which is refreshed if it has expired
    return Response(reply.content, reply.status_code, content_type="application/json")


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


@app.errorhandler(requests.RequestException)
def unreachable(error):
    app.logger.warning("%s: %s", request.path, type(error).__name__)
    return "A service cannot be reached, or rejected the request.", 502


if __name__ == "__main__":
    print("Open", BASE_URL, flush=True)
    app.run("localhost", PORT)  # in production, use a WSGI server such as gunicorn
