// What the console shows in place of what only the checker finds.
import { t } from "../texts";
import { isBeingBuilt } from "./checker";

/** missingChecker returns why there is no checker, and what to do. */
export function missingChecker(): string {
  return isBeingBuilt
    ? t("The checker for the browser is being built. Until then the server checks flows, without proofs and simulations. Reload this page in a few minutes.")
    : t("This server was built without the checker for the browser, so it cannot simulate. Build it with make build.");
}
