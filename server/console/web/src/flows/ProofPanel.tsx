// What is proven of a flow: its guarantees, the facts at the selected node or edge, and what each edge
// changes.
import { useEffect, useState } from "react";
import { t } from "../texts";
import { Chains } from "./Chains";
import { call, isAvailable, type Proof, type UserState } from "./checker";
import { missingChecker } from "./missing";

/** Place is a node, or with a target an edge that leaves it. */
export interface Place {
  node: string;
  target?: string;
}

export function ProofPanel({ text, proof, place, onSelect }: { text: string; proof: Proof | undefined; place: Place | undefined; onSelect: (place: Place) => void }) {
  const [isOpen, setOpen] = useState(false); // the list is long
  return (
    <section aria-label={t("Proof")} className="proof">
      {proof ? (
        <>
          <Guarantees proof={proof} />
          <Facts text={text} place={place} />
          <details onToggle={(event) => setOpen(event.currentTarget.open)}>
            <summary>{t("What each edge changes")}</summary>
            <ul className="parts">
              {isOpen && proof.nodes.flatMap((node) => node.edges.map((edge) => (
                <li key={`${node.id} ${edge.outcome} ${edge.target}`}>
                  <button type="button" onClick={() => onSelect({ node: node.id, target: edge.target })}>{edgeName(node.id, edge.outcome, edge.target)}</button>
                  <span>
                    {describe(edge.user)}{edge.gains.map((fact) => <span key={fact}>; + {fact}</span>)}{edge.loses.map((fact) => <span key={fact}>; − {fact}</span>)}
                  </span>
                </li>
              )))}
            </ul>
          </details>
        </>
      ) : <p className="quiet">{isAvailable() ? t("Facts and guarantees are shown for a flow without errors.") : missingChecker()}</p>}
      <Chains />
    </section>
  );
}

export function edgeName(node: string, outcome: string, target: string): string {
  return outcome ? `${node} —${outcome}→ ${target}` : `${node} → ${target}`;
}

/** describe names what is certain about the user. */
export function describe(user: UserState): string {
  switch (user) {
    case "authenticated": return t("authenticated");
    case "created": return t("created");
    case "identified": return t("identified");
    default: return t("anyone");
  }
}

function Guarantees({ proof }: { proof: Proof }) {
  const { acr, amr, phishingResistant, userVerified, noEnumeration } = proof.guarantees;
  const proven = [
    ...(acr ? [t("class {acr}", { acr })] : []),
    ...(amr && amr.length > 0 ? [t("methods {amr}", { amr: amr.join(" ") })] : []),
    ...(phishingResistant ? [t("phishing-resistant")] : []),
    ...(userVerified ? [t("user verified")] : []),
    ...(noEnumeration ? [t("does not reveal accounts")] : []),
  ];
  return (
    <>
      <h2>{t("Guarantees")}</h2>
      {proven.length === 0
        ? <p className="quiet">{t("Nothing is certain of every completed run.")}</p>
        : <ul className="badges">{proven.map((text) => <li key={text}>{text}</li>)}</ul>}
      {proof.sessions.map(({ node, acr: demanded }) => <p key={node} className="quiet">{t("{node} accepts an earlier sign-in of the class {acr}.", { node, acr: demanded })}</p>)}
    </>
  );
}

function Facts({ text, place }: { text: string; place: Place | undefined }) {
  const [facts, setFacts] = useState<string[]>();
  useEffect(() => {
    setFacts(undefined);
    if (!place) {
      return;
    }
    let isCurrent = true;
    call("factsAt", { text, json: false, ...place }).then((found) => isCurrent && setFacts(found.facts), () => undefined); // the text has errors by now
    return () => {
      isCurrent = false;
    };
  }, [text, place?.node, place?.target]);
  if (!place) {
    return <p className="quiet">{t("Select a node or an edge to see what is certain there.")}</p>;
  }
  return (
    <div role="status">
      <h2>{t("Certain at {place}", { place: place.target ? edgeName(place.node, "", place.target) : place.node })}</h2>
      {facts === undefined ? null : facts.length === 0 ? <p className="quiet">{t("Nothing.")}</p> : <ul>{facts.map((fact) => <li key={fact}>{fact}</li>)}</ul>}
    </div>
  );
}
