// A web application with Express and Auth.js. With Next.js the object `options` is the same.
import { ExpressAuth, getSession } from "@auth/express";
import express from "express";
import { baseURL, clientID, clientSecret, issuer, page, serve, sessionSecret } from "./config.mjs";

const options = {
  secret: sessionSecret, // AUTH_SECRET
  trustHost: true, // behind a proxy that sets the Host header; else set AUTH_URL
  providers: [{
    id: "postern", name: "Postern", type: "oidc",
    issuer: issuer.origin,
    clientId: clientID,
    clientSecret, // leave it out for a public client
    client: { token_endpoint_auth_method: clientSecret ? "client_secret_basic" : "none" },
    authorization: { params: { scope: "openid profile email" } },
    checks: ["pkce", "state", "nonce"],
  }],
  callbacks: {
    jwt({ token, account, profile }) { // the cookie of the session, encrypted
      return account ? { ...token, sub: profile.sub, name: profile.name ?? profile.preferred_username } : token;
    },
    session({ session, token }) {
      session.user.sub = token.sub;
      return session;
    },
  },
};

const app = express();
app.set("trust proxy", "loopback");
app.use("/auth", ExpressAuth(options));

app.get("/", async (req, res) => {
  const session = await getSession(req, options);
  res.send(page(session?.user, '<a id="sign-in" href="/auth/signin">Sign in</a>', "Show my id"));
});

app.get("/me", async (req, res) => {
  const session = await getSession(req, options);
  return session ? res.json({ sub: session.user.sub }) : res.redirect("/auth/signin");
});

// Auth.js ends its own session and leads to /signed-out, which ends the session at the server, too.
app.post("/logout", (req, res) => res.redirect(303, "/auth/signout?callbackUrl=/signed-out"));
app.get("/signed-out", (req, res) => {
  const query = new URLSearchParams({ client_id: clientID, post_logout_redirect_uri: `${baseURL}/` });
  res.redirect(`${issuer.origin}/oauth2/logout?${query}`);
});

serve(app);
