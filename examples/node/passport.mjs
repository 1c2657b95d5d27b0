// A web application with Express and Passport. The strategy is part of openid-client.
import express from "express";
import session from "express-session";
import * as oidc from "openid-client";
import { Strategy } from "openid-client/passport";
import passport from "passport";
import { baseURL, clientID, clientSecret, issuer, page, serve, sessionSecret } from "./config.mjs";

const config = await oidc.discovery(issuer, clientID, undefined, clientSecret ? oidc.ClientSecretBasic(clientSecret) : oidc.None(),
  { execute: issuer.protocol === "http:" ? [oidc.allowInsecureRequests] : [], timeout: 10 });

passport.use("postern", new Strategy(
  { config, name: "postern", scope: "openid profile email", callbackURL: `${baseURL}/callback` },
  (tokens, verified) => {
    const { sub, name, preferred_username } = tokens.claims();
    verified(null, { sub, name, preferred_username, idToken: tokens.id_token });
  }));
passport.serializeUser((user, done) => done(null, user));
passport.deserializeUser((user, done) => done(null, user));

const app = express();
app.set("trust proxy", "loopback");
app.use(session({
  secret: sessionSecret, resave: false, saveUninitialized: false,
  cookie: { httpOnly: true, sameSite: "lax", secure: baseURL.startsWith("https:"), maxAge: 8 * 60 * 60 * 1000 },
}));
app.use(passport.session());

app.get("/", (req, res) => res.send(page(req.user, undefined, "Show my id")));
app.get("/login", passport.authenticate("postern"));
app.get("/callback", passport.authenticate("postern", { successRedirect: "/", failureRedirect: "/" }));
app.get("/me", (req, res) => req.user ? res.json({ sub: req.user.sub }) : res.redirect("/login"));

app.post("/logout", (req, res, next) => {
  const idToken = req.user?.idToken;
  req.logout((error) => {
    if (error) {
      return next(error);
    }
    res.redirect(303, idToken ? oidc.buildEndSessionUrl(config, { id_token_hint: idToken, post_logout_redirect_uri: `${baseURL}/` }).href : "/");
  });
});

app.use((error, req, res, next) => {
  console.error(req.path, error.code ?? error.name, error.error ?? error.message);
  return res.headersSent ? next(error) : res.status(502).send("That did not work. Go back and sign in again.");
});

serve(app);
