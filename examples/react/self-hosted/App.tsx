import { useEffect, useState } from "react";
import { SignedIn, SignedOut, useThunderID } from "@thunderid/react";
import { SignInForm } from "./SignInForm";
import { SignUpForm } from "./SignUpForm";

export function App() {
  const [page, setPage] = useState<"sign-in" | "sign-up">("sign-in");
  const other = page === "sign-in" ? "sign-up" : "sign-in";
  return (
    <main>
      <SignedOut>
        {page === "sign-in" ? <SignInForm /> : <SignUpForm />}
        <button id="other" onClick={() => setPage(other)}>
          {other === "sign-in" ? "Sign in instead" : "Create an account"}
        </button>
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

/** The user's claims in the assertion. */
function Account() {
  const { user, clearSession } = useThunderID();
  const subject = useSubject();
  // The SDK's signOut, and its SignOutButton, drop the session but continue to show
  // it, or lead to Postern's own page.
  const signOut = async () => {
    await clearSession();
    window.location.reload();
  };
  return (
    <>
      <h1>Hello, {user?.given_name ?? user?.username}</h1>
      <dl>
        <dt>Username</dt>
        <dd id="username">{user?.username}</dd>
        <dt>Email</dt>
        <dd id="email">{user?.email}</dd>
        <dt>Id</dt>
        <dd id="sub">{subject}</dd>
      </dl>
      <button id="sign-out" onClick={signOut}>Sign out</button>
    </>
  );
}
