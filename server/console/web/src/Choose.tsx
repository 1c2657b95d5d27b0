// A field that finds something while typing, and adds what is chosen.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { Button, ComboBox, FieldError, Input, Label, ListBox, ListBoxItem, Popover, Text } from "react-aria-components";
import { t } from "./texts";
import { explain } from "./ui";

/** Choice is something that can be chosen. */
export interface Choice {
  id: string;
  label: string;
  note: string;
}

/** pause is how long typing must pause before the search starts, in milliseconds. */
const pause = 200;

export function Choose({ label, help, search, onChoose }: { label: string; help?: string; search: (text: string) => Promise<Choice[]>; onChoose: (choice: Choice) => void }) {
  const [text, setText] = useState("");
  const [wanted, setWanted] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setWanted(text.trim()), pause);
    return () => clearTimeout(timer);
  }, [text]);
  const [chosen, setChosen] = useState(0); // how often; a new field has a closed list
  const [isUsed, setUsed] = useState(false);
  const found = useQuery({ queryKey: ["choose", label, wanted], queryFn: () => search(wanted), enabled: isUsed, placeholderData: keepPreviousData });
  const isOld = found.isPlaceholderData || text.trim() !== wanted;
  const choose = (choice: Choice) => {
    onChoose(choice);
    // The list must close first: it hides the rest of the page from screen readers while it is open.
    setTimeout(() => {
      setText("");
      setChosen((times) => times + 1);
    });
  };
  const exact = isOld ? undefined : found.data?.find((one) => one.label === text.trim());
  return (
    <ComboBox
      key={chosen} className="choose field" inputValue={text} onInputChange={setText} items={found.data ?? []} selectedKey={null} defaultFilter={() => true}
      allowsEmptyCollection autoFocus={chosen > 0} onFocus={() => setUsed(true)}
      // A text that is not chosen stays, and blocks the form: it would get lost otherwise.
      allowsCustomValue validate={() => (text.trim() && !exact ? t("Choose an entry of the list, or clear the field.") : null)}
      onBlur={() => exact && choose(exact)}
      onSelectionChange={(key) => {
        const choice = found.data?.find((one) => one.id === key);
        if (choice) {
          choose(choice);
        }
      }}
    >
      <Label>{label}</Label>
      {/* Enter chooses; it must not submit the form around the field. */}
      <div className="row" onKeyPress={(e) => e.key === "Enter" && e.preventDefault()}><Input /><Button aria-label={t("Show choices")}>▾</Button></div>
      {help && <Text slot="description">{help}</Text>}
      <FieldError />
      <Popover className="choices">
        <ListBox<Choice> renderEmptyState={() => <p className="quiet">{found.error ? explain(found.error) : found.isPending || isOld ? t("Loading …") : t("Nothing matches.")}</p>}>
          {(choice) => <ListBoxItem id={choice.id} textValue={choice.label}>{choice.label} <span className="quiet">{choice.note}</span></ListBoxItem>}
        </ListBox>
      </Popover>
    </ComboBox>
  );
}
