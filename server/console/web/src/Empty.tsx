// What a list shows while it has no items.
import { Link } from "react-router";
import { creationPath, mayChange, type Noun } from "./nouns";
import { t } from "./texts";

/** Empty explains what the resources of a kind are for, and offers to create the first one. */
export function Empty({ noun }: { noun: Noun }) {
  return (
    <div className="empty">
      <p><strong>{t("Nothing here yet.")}</strong></p>
      <p>{t(noun.about)}</p>
      {mayChange(noun.path) && <Link className="button primary" to={creationPath(noun)}>{t(noun.creation)}</Link>}
    </div>
  );
}
