// The search for any user, application, flow, page or action, with the keyboard alone.
import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";
import { Dialog, Modal, ModalOverlay } from "react-aria-components";
import { useNavigate } from "react-router";
import { findIn, nameQuery } from "./listing";
import { creationPath, mayChange, type Noun, nouns, permission } from "./nouns";
import { destinations } from "./pages";
import { Icon, type IconName } from "./parts/Icon";
import { recent } from "./recent";
import { accountURL, may, signOut } from "./session";
import type { Overlay } from "./shortcuts";
import { t } from "./texts";
import { explain } from "./ui";

/** Entry is what can be chosen. */
interface Entry {
  id: string;
  icon: IconName;
  name: string;
  note?: string;
  run: () => void;
}

interface Part {
  title: string;
  entries: Entry[];
}

/** pause is how long typing must pause before the server is asked, in milliseconds. */
const pause = 180;

export default function Palette({ onClose, onShow, onFold }: { onClose: () => void; onShow: (overlay: Overlay) => void; onFold: () => void }) {
  const id = useId();
  const navigate = useNavigate();
  const [text, setText] = useState("");
  const [active, setActive] = useState(0);
  const wanted = useSettled(text.trim());
  const found = useQuery({
    queryKey: ["palette", wanted], enabled: wanted !== "", placeholderData: keepPreviousData,
    queryFn: () => findIn(nouns.filter((noun) => may(permission(noun, "read"))), wanted),
  });
  const go = (path: string) => () => { onClose(); void navigate(path); };
  const resources: Entry[] = wanted && text.trim() ? (found.data ?? []).map(({ noun, id, label, note }) => ({ id: noun.path + id, icon: noun.icon, name: label, note, run: go(`${noun.path}/${id}`) })) : [];
  const opened = useRecent(go);
  const parts: Part[] = [
    text.trim() === "" ? { title: t("Recent"), entries: opened } : { title: t("Found"), entries: resources },
    { title: t("Pages"), entries: matching(pages(go), text) },
    { title: t("Actions"), entries: matching(actions(go, onClose, onShow, onFold), text).slice(0, text.trim() ? 20 : 6) },
  ].filter(({ entries }) => entries.length > 0);
  const all = parts.flatMap(({ entries }) => entries);
  const at = Math.min(active, all.length - 1);
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    list.current?.querySelector("[aria-selected=true]")?.scrollIntoView({ block: "nearest" });
  }, [at, all.length]);
  const press = (event: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined && all.length > 0) {
      event.preventDefault();
      setActive((at + step + all.length) % all.length);
    } else if (event.key === "Enter" && !event.nativeEvent.isComposing) {
      event.preventDefault();
      all[at]?.run();
    }
  };
  const isWaiting = text.trim() !== wanted || found.isFetching;
  return (
    <ModalOverlay isOpen isDismissable onOpenChange={(open) => open || onClose()} className="react-aria-ModalOverlay palette-overlay">
      <Modal className="react-aria-Modal palette">
        <Dialog aria-label={t("Search or jump to")}>
          <div className="ask">
            <Icon name="search" />
            <input
              autoFocus role="combobox" aria-expanded="true" aria-controls={`${id}-list`} aria-autocomplete="list" aria-activedescendant={all[at] ? `${id}-${at}` : undefined} aria-label={t("Search or jump to")}
              placeholder={t("A user, application, flow, page or action")} value={text} maxLength={250} spellCheck={false} autoComplete="off" onKeyDown={press}
              onChange={(event) => { setText(event.target.value); setActive(0); }}
            />
          </div>
          <div className="found" ref={list} id={`${id}-list`} role="listbox" aria-label={t("Results")}>
            {parts.map((part) => (
              <div key={part.title} role="group" aria-label={part.title}>
                <div className="group" aria-hidden="true">{part.title}</div>
                {part.entries.map((entry) => {
                  const place = all.indexOf(entry);
                  return (
                    <div key={entry.id} id={`${id}-${place}`} role="option" aria-selected={place === at} onPointerMove={() => setActive(place)} onClick={entry.run}>
                      <Icon name={entry.icon} /><span className="name">{entry.name}</span>{entry.note && <span className="quiet small">{entry.note}</span>}
                    </div>
                  );
                })}
              </div>
            ))}
          </div>
          <div role="status">{found.error && wanted ? <p className="problem">{explain(found.error)}</p> : all.length === 0 && <p className="quiet">{isWaiting ? t("Loading …") : t("Nothing matches.")}</p>}</div>
          <div className="foot" aria-hidden="true"><span><kbd>↑</kbd> <kbd>↓</kbd> {t("choose")}</span><span><kbd>↵</kbd> {t("open")}</span><span><kbd>Esc</kbd> {t("close")}</span></div>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

/** useSettled returns a text once it has not changed for a while. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), text === "" ? 0 : pause);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

type Go = (path: string) => () => void;

/** useRecent returns what was opened last, with its names; what is deleted or may not be read has none. */
function useRecent(go: Go): Entry[] {
  const list = recent().flatMap(({ path, id }) => {
    const noun = nouns.find((one) => one.path === path);
    return noun ? [{ noun, id }] : [];
  });
  const names = useQueries({ queries: list.map(({ noun, id }) => nameQuery(noun, id)) });
  return list.flatMap(({ noun, id }, i) => {
    const name = names[i]?.data;
    return name === undefined ? [] : [{ id: `recent ${noun.path}${id}`, icon: noun.icon, name, note: t(noun.one), run: go(`${noun.path}/${id}`) }];
  });
}

const pages = (go: Go): Entry[] => destinations().map(({ path, title, icon }) => ({ id: path, icon, name: t(title), run: go(path) }));

const creations = (go: Go): Entry[] => nouns.filter((noun: Noun) => mayChange(noun.path)).map((noun) => ({ id: `create ${noun.path}`, icon: "plus", name: t(noun.creation), run: go(creationPath(noun)) }));

function actions(go: Go, onClose: () => void, onShow: (overlay: Overlay) => void, onFold: () => void): Entry[] {
  return [
    ...creations(go),
    { id: "shortcuts", icon: "keyboard", name: t("Keyboard shortcuts"), run: () => onShow("shortcuts") },
    { id: "fold", icon: "panel-left", name: t("Collapse or expand the sidebar"), run: () => { onClose(); onFold(); } },
    { id: "account", icon: "user", name: t("Your account"), run: () => location.assign(accountURL) },
    { id: "sign out", icon: "log-out", name: t("Sign out"), run: signOut },
  ];
}

/** matching returns the entries with all words of a text, those that start with it first. */
function matching(entries: Entry[], text: string): Entry[] {
  const words = text.toLocaleLowerCase().split(/\s+/).filter(Boolean);
  const lower = (entry: Entry) => entry.name.toLocaleLowerCase();
  const starts = (entry: Entry) => Number(!lower(entry).startsWith(words[0] ?? ""));
  return entries.filter((entry) => words.every((word) => lower(entry).includes(word))).sort((a, b) => starts(a) - starts(b));
}
