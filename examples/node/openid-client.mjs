// A web application with Express and openid-client.
import express from "express";
import session from "express-session";
import * as oidc from "openid-client";
import {
  apiURL, baseURL, callbackPath, clientID, clientSecret, issuer, page, postLogoutURI, redirectURI, scope, serve, sessionSecret,
} from "./config.mjs";

const config = await oidc.discovery(issuer, clientID, undefined, clientSecret ? oidc.ClientSecretBasic(clientSecret) : oidc.None(),
  { execute: issuer.protocol === "http:" ? [oidc.allowInsecureRequests] : [], timeout: 10 });

const app = express();
app.set("trust proxy", "loopback"); // for a proxy on this machine that terminates TLS
app.use(session({
  secret: sessionSecret, resave: false, saveUninitialized: false, // in production also `store`, such as connect-redis
  cookie: { httpOnly: true, sameSite: "lax", secure: baseURL.startsWith("https:"), maxAge: 8 * 60 * 60 * 1000 },
}));

app.get("/", (req, res) => res.send(page(req.session.user)));

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

/** accessToken returns an access token that is valid for ten more seconds. */
async function accessToken(session) {
  if (Date.now() > session.expires - 10_000) {
    keep(session, await oidc.refreshTokenGrant(config, session.refreshToken));
  }
  return session.accessToken;
}

app.get("/me", async (req, res) => {
  if (!req.session.user) {
    return res.redirect("/login");
  }
  const reply = await oidc.fetchProtectedResource(config, await accessToken(req.session), new URL("/me", apiURL), "GET");
  res.status(reply.status).json(await reply.json());
});

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

serve(app);
