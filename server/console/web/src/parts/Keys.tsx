// The keys of a shortcut, next to what they do. The style sheet writes them, so that they are no part of the
// name of a button (WCAG 2.2, 2.5.3).
export function Keys({ text }: { text: string }) {
  return <kbd aria-hidden="true" data-text={text} />;
}
