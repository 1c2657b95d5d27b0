// The picture of a user or an application: its logo, or its initials.
import { useState } from "react";

/** initialsOf returns the first letters of the first and the last word of a name. */
export function initialsOf(name: string): string {
  const words = name.split(/[\s._@-]+/).filter((word) => /[\p{L}\p{N}]/u.test(word));
  const letters = [words[0], words.length > 1 && !name.includes("@") ? words.at(-1) : undefined].map((word) => [...(word ?? "")][0] ?? "");
  return letters.join("").toLocaleUpperCase();
}

export function Avatar({ name, large = false }: { name: string; large?: boolean }) {
  return <span className={large ? "avatar large" : "avatar"} aria-hidden="true" data-text={initialsOf(name)} />;
}

/** Logo shows the initial until the picture is there; the policy of the console lets no picture of other servers in. */
export function Logo({ name, url = "" }: { name: string; url?: string }) {
  const [isThere, setThere] = useState(true);
  const isOwn = url !== "" && new URL(url, location.href).origin === location.origin;
  return <span className="logo" aria-hidden="true">{isOwn && isThere ? <img src={url} alt="" onError={() => setThere(false)} /> : initialsOf(name).slice(0, 1)}</span>;
}
