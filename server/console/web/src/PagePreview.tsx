// A step as the hosted pages show it, in a frame with the page itself. The page sends no requests:
// what is pressed in it comes back here.
import { useQuery } from "@tanstack/react-query";
import { useEffect, useId, useRef, useState } from "react";
import { send } from "./api";
import { serverURL } from "./session";
import { language, t } from "./texts";

/** PageAnswer is what was pressed on the page, with the inputs of its form. */
export interface PageAnswer {
  action: string;
  /** eventType is TRIGGER if the action starts a passkey ceremony. */
  eventType?: string;
  inputs: Record<string, string>;
}

interface Meta {
  design: { theme: Record<string, unknown> };
}

interface Props {
  /** step is a reply of POST /flow/execute with components. */
  step: unknown;
  /** application has the appearance; "" is that of the service. */
  application: string;
  /** theme replaces the theme of the application. */
  theme?: Record<string, unknown> | undefined;
  registers?: boolean;
  onAnswer: (answer: PageAnswer) => void;
}

const schemes = { "light dark": "As the system", light: "Light", dark: "Dark" };

export function PagePreview({ step, application, theme, registers = false, onAnswer }: Props) {
  const frame = useRef<HTMLIFrameElement>(null);
  const [tag, setTag] = useState(language);
  const [languages, setLanguages] = useState<Record<string, string>>({}); // the page has them
  const [scheme, setScheme] = useState("light dark");
  const [isReady, setReady] = useState(false);
  const answer = useRef(onAnswer);
  answer.current = onAnswer;
  const meta = useQuery({
    queryKey: ["/flow/meta", application, tag],
    queryFn: async () => (await send("GET", `/flow/meta?${new URLSearchParams({ ...(application && { id: application, type: "APP" }), language: tag })}`)).data as Meta,
  });

  useEffect(() => {
    const receive = ({ source, origin, data }: MessageEvent<PageAnswer & { isReady?: boolean; languages?: Record<string, string> }>) => {
      if (source !== frame.current?.contentWindow || origin !== location.origin) {
        return;
      }
      if (data.isReady) {
        setReady(true);
        setLanguages(data.languages ?? {});
      } else {
        answer.current(data);
      }
    };
    addEventListener("message", receive);
    return () => removeEventListener("message", receive);
  }, []);

  useEffect(() => {
    if (isReady && meta.data) {
      frame.current?.contentWindow?.postMessage({ step, registers, meta: { ...meta.data, ...(theme && { design: { theme } }) } }, location.origin);
    }
  }, [isReady, meta.data, step, registers, theme]);

  return (
    <div className="preview">
      <div className="filter">
        <Choice label={t("Language")} value={tag} options={tag in languages ? languages : { [tag]: tag, ...languages }} onChange={(chosen) => { setReady(false); setTag(chosen); }} />
        <Choice label={t("Colors")} value={scheme} options={schemes} onChange={setScheme} />
      </div>
      <iframe ref={frame} title={t("Preview of the hosted page")} src={`${serverURL}/gate/preview?lang=${tag}`} style={{ colorScheme: scheme }} />
    </div>
  );
}

function Choice({ label, value, options, onChange }: { label: string; value: string; options: Record<string, string>; onChange: (value: string) => void }) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} value={value} onChange={(event) => onChange(event.target.value)}>
        {Object.entries(options).map(([key, text]) => <option key={key} value={key}>{t(text)}</option>)}
      </select>
    </div>
  );
}
