// The icons and the mark of internal/design.
import { createElement } from "react";
import icons from "../../../../../internal/design/icons.json";
import mark from "../../../../../internal/design/mark.svg?raw";

export type IconName = keyof typeof icons;

/** Icon is an icon in the color of the text around it. Screen readers skip it: a text is next to it, or names its button. */
export function Icon({ name }: { name: IconName }) {
  const shapes = icons[name] as [string, Record<string, string>][];
  return <svg className="icon" viewBox="0 0 24 24" aria-hidden="true">{shapes.map(([shape, attributes], i) => createElement(shape, { ...attributes, key: i }))}</svg>;
}

const outline = /\bd="([^"]+)"/.exec(mark)?.[1];

/** Mark is the mark of the product. */
export function Mark() {
  return <svg className="mark" viewBox="0 0 24 24" aria-hidden="true"><path fill="currentColor" d={outline} /></svg>;
}
