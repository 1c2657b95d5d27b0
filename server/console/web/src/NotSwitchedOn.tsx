// What users cannot do in an application yet, and where to change that.
import { Button } from "react-aria-components";
import { Icon } from "./parts/Icon";
import { t } from "./texts";
import type { Value } from "./useEditor";

const possible: { isOff: (value: Value) => boolean; text: string; action: string }[] = [
  { isOff: (value) => value["isRegistrationFlowEnabled"] !== true, text: "Users cannot sign up here.", action: "Allow sign-up" },
  { isOff: (value) => !value["recoveryFlowId"], text: "Users who lost their passkey or password have no way back.", action: "Choose a recovery flow" },
  { isOff: (value) => !value["invitationFlowId"], text: "Users cannot be invited.", action: "Choose an invitation flow" },
];

/** NotSwitchedOn is empty for an application that signs no users in. */
export function NotSwitchedOn({ value, mayChange, show }: { value: Value; mayChange: boolean; show: (tab: string) => void }) {
  const missing = value["type"] === "M2M" ? [] : possible.filter(({ isOff }) => isOff(value));
  if (missing.length === 0) {
    return null;
  }
  return (
    <section className="card" aria-label={t("Not switched on")}>
      <h2>{t("Not switched on")}</h2>
      <ul className="parts">
        {missing.map(({ text, action }) => <li key={text}><span className="row"><Icon name="circle-alert" /><span>{t(text)}</span></span>{mayChange && <Button className="link" onPress={() => show("sign-in")}>{t(action)}</Button>}</li>)}
      </ul>
    </section>
  );
}
