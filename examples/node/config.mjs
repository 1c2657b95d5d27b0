// Where the server is, and what it calls this application. The defaults fit `make run`.
export const issuer = new URL(process.env.ISSUER ?? "http://localhost:8090");
export const port = Number(process.env.PORT ?? 3000);
export const baseURL = process.env.BASE_URL ?? `http://localhost:${port}`;
export const callbackPath = "/callback";
export const redirectURI = baseURL + callbackPath;
export const postLogoutURI = `${baseURL}/`;
export const scope = "openid profile email";
export const clientID = process.env.CLIENT_ID ?? "EXAMPLE"; // a public client of `make run`
export const clientSecret = process.env.CLIENT_SECRET; // undefined for a public client
export const apiURL = process.env.API_URL ?? "http://localhost:4000"; // the API that the access tokens are for
// Sign-ins end with the process unless SESSION_SECRET is set.
export const sessionSecret = process.env.SESSION_SECRET ?? crypto.randomUUID() + crypto.randomUUID();

/** serve starts an Express application, and stops it after a signal. */
export function serve(app) {
  const server = app.listen(port, "localhost", (error) => {
    if (error) {
      throw error;
    }
    console.log("Open", baseURL);
  });
  server.requestTimeout = 10_000;
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.once(signal, () => {
      server.close();
      server.closeIdleConnections();
    });
  }
}

const escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

/** page returns the page of an example for its user; undefined if nobody is signed in. me is the text of the link to /me. */
export function page(user, signIn = '<a id="sign-in" href="/login">Sign in</a>', me = "Call the API") {
  const name = user && escape(user.name ?? user.preferred_username ?? user.sub);
  return `<!doctype html><title>Example</title><h1>Example</h1>${user
    ? `<p>Signed in as <b id="user">${name}</b></p><p><a id="api" href="/me">${me}</a></p>
       <form method="post" action="/logout"><button id="sign-out">Sign out</button></form>`
    : `<p>${signIn}</p>`}`;
}
