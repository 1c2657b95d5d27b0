import { SignedIn, SignedOut, SignInButton, useThunderID } from "@thunderid/react";
import { useSignOut } from "./useSignOut";

export function App() {
  const { isLoading } = useThunderID();
  if (isLoading) return <p>One moment…</p>;
  return (
    <main>
      <SignedOut>
        <h1>Welcome</h1>
        {/* Postern's page signs people in, and up. */}
        <SignInButton id="sign-in">Sign in or sign up</SignInButton>
      </SignedOut>
      <SignedIn>
        <Account />
      </SignedIn>
    </main>
  );
}

/** The user's claims in the ID token. */
function Account() {
  const { user } = useThunderID();
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
        <dd id="sub">{user?.sub}</dd>
      </dl>
      <button id="sign-out" onClick={signOut}>Sign out</button>
    </>
  );
}
