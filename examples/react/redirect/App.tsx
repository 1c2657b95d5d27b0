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
