"""A web application with FastAPI and Authlib whose users sign in with Postern."""

import os
import secrets
from html import escape
from urllib.parse import urlencode

import httpx
import uvicorn
from authlib.common.errors import AuthlibBaseError
from authlib.integrations.starlette_client import OAuth
from fastapi import FastAPI, HTTPException, Request, Response
from fastapi.responses import HTMLResponse, PlainTextResponse, RedirectResponse
from starlette.middleware.sessions import SessionMiddleware

# The defaults fit `make run`.
ISSUER = os.environ.get("ISSUER", "http://localhost:8090")
PORT = int(os.environ.get("PORT", "3000"))
BASE_URL = os.environ.get("BASE_URL", f"http://localhost:{PORT}")
API_URL = os.environ.get("API_URL", "http://localhost:4000")
CLIENT_ID = os.environ.get("CLIENT_ID", "EXAMPLE")  # a public client of `make run`
CLIENT_SECRET = os.environ.get("CLIENT_SECRET")

app = FastAPI()
app.add_middleware(
    SessionMiddleware,  # a signed cookie, with HttpOnly; sessions end with the process unless SESSION_SECRET is set
    secret_key=os.environ.get("SESSION_SECRET") or secrets.token_hex(32),
    session_cookie="example",
    same_site="lax",
    https_only=BASE_URL.startswith("https://"),
)
# The cookie is not encrypted, so tokens stay on the server. With several processes, keep them in a database.
tokens = {}


async def keep(token, refresh_token=None, **_):
    """Store the tokens of a refresh. The refresh token of each is for one use."""
    identifier = next(key for key, value in tokens.items() if value["refresh_token"] == refresh_token)
    store(identifier, token)


def store(identifier, token):
    token["expires_at"] -= 10  # refresh ten seconds before it expires
    tokens[identifier] = {**tokens.get(identifier, {}), **token}


oauth = OAuth()
oauth.register(
    "postern",
    server_metadata_url=f"{ISSUER}/.well-known/openid-configuration",
    client_id=CLIENT_ID,
    client_secret=CLIENT_SECRET,
    update_token=keep,
    client_kwargs={
        "scope": "openid profile email",
        "code_challenge_method": "S256",  # Authlib sends state and nonce always, PKCE only with this
        "token_endpoint_auth_method": "client_secret_basic" if CLIENT_SECRET else "none",
        "timeout": 10,
    },
)


@app.get("/", response_class=HTMLResponse)
async def home(request: Request):
    user = request.session.get("user") if request.session.get("id") in tokens else None
    if not user:
        return '<!doctype html><title>Example</title><a id="sign-in" href="/login">Sign in</a>'
    name = escape(user.get("name") or user.get("preferred_username") or user["sub"])
    return f"""<!doctype html><title>Example</title><p>Signed in as <b id="user">{name}</b></p>
<p><a id="api" href="/me">Call the API</a></p>
<form method="post" action="/logout"><button id="sign-out">Sign out</button></form>"""


@app.get("/login")
async def login(request: Request):
    return await oauth.postern.authorize_redirect(request, f"{BASE_URL}/callback", resource=API_URL)


@app.get("/callback")
async def callback(request: Request):
    if request.query_params.get("iss") != ISSUER:  # RFC 9207
        raise HTTPException(400, "The answer is from another issuer.")
    token = await oauth.postern.authorize_access_token(request)  # checks state, nonce and the signature
    request.session.clear()
    request.session.update(id=secrets.token_urlsafe(), user=dict(token["userinfo"]))
    store(request.session["id"], token)
    return RedirectResponse("/")


@app.get("/me")
async def me(request: Request):
    token = tokens.get(request.session.get("id"))
    if not token:
        return RedirectResponse("/login")
    reply = await oauth.postern.get(f"{API_URL}/me", token=token)  # refreshes the access token if it has expired
    return Response(reply.content, reply.status_code, media_type="application/json")


@app.post("/logout")
async def logout(request: Request):
    token = tokens.pop(request.session.get("id"), None)
    request.session.clear()
    if not token:
        return RedirectResponse("/", 303)
    query = {"client_id": CLIENT_ID, "id_token_hint": token["id_token"], "post_logout_redirect_uri": f"{BASE_URL}/"}
    metadata = await oauth.postern.load_server_metadata()
    return RedirectResponse(metadata["end_session_endpoint"] + "?" + urlencode(query), 303)


@app.exception_handler(AuthlibBaseError)
async def failed(request: Request, error: AuthlibBaseError):
    print(f"{request.url.path}: {error.error}", flush=True)  # no tokens, and no parameters
    if error.error == "invalid_grant":  # the session at the server has ended
        tokens.pop(request.session.get("id"), None)
    return PlainTextResponse("That did not work. Go back and sign in again.", 400)


@app.exception_handler(httpx.HTTPError)
async def unreachable(request: Request, error: httpx.HTTPError):
    print(f"{request.url.path}: {type(error).__name__}", flush=True)
    return PlainTextResponse("A service cannot be reached, or rejected the request.", 502)


if __name__ == "__main__":
    print("Open", BASE_URL, flush=True)
    uvicorn.run(app, host="localhost", port=PORT, access_log=False)  # the access log would contain codes
