// The sheet of keyboard shortcuts.
import { useState } from "react";
import { Button, Dialog, Heading, Modal, ModalOverlay, Switch } from "react-aria-components";
import { destinations } from "./pages";
import { Icon } from "./parts/Icon";
import { isApple } from "./SaveBar";
import { hasSingleKeys, setSingleKeys } from "./shortcuts";
import { t } from "./texts";

const command = isApple ? "⌘" : "Ctrl";

export default function ShortcutSheet({ onClose }: { onClose: () => void }) {
  const [isOn, setOn] = useState(hasSingleKeys);
  const single: [string, string[]][] = [
    [t("This sheet"), ["?"]], [t("Create, on a list"), ["c"]], [t("Collapse the sidebar"), ["["]],
    ...destinations().filter((page) => page.key).map((page): [string, string[]] => [t("Go to {page}", { page: t(page.title) }), ["g", page.key ?? ""]]),
  ];
  return (
    <ModalOverlay isOpen isDismissable onOpenChange={(open) => open || onClose()}>
      <Modal>
        <Dialog className="react-aria-Dialog shortcuts">
          <div className="title"><Heading slot="title">{t("Keyboard shortcuts")}</Heading><Button className="bare icon-only" aria-label={t("Close")} onPress={onClose}><Icon name="x" /></Button></div>
          <Keys rows={[[t("Search or jump to"), [command, "K"]], [t("Save"), [command, "S"]], [t("Close what is open"), ["Esc"]]]} />
          <h3>{t("Single keys")}</h3>
          {isOn && <Keys rows={single} />}
          <Switch isSelected={isOn} onChange={(on) => { setSingleKeys(on); setOn(on); }}><div className="switch" aria-hidden="true" />{t("Use single keys")}</Switch>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

function Keys({ rows }: { rows: [string, string[]][] }) {
  return <dl>{rows.map(([what, keys]) => <div key={what}><dt>{what}</dt><dd>{keys.map((key, i) => <span key={i}>{i > 0 && " "}<kbd>{key}</kbd></span>)}</dd></div>)}</dl>;
}
