declare module "*.css";

declare module "*.svg?raw" {
  const text: string;
  export default text;
}

interface ImportMeta {
  /** The files that match a pattern, by path. Vite resolves the call when it builds. */
  glob<T>(pattern: string, options: { query: string; import: string; eager: true }): Record<string, T>;
}
