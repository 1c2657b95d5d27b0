// All texts in German.
export default Object.assign({}, ...Object.values(import.meta.glob<Record<string, string>>("./texts/*.ts", { query: "?german", import: "german", eager: true }))) as Record<string, string>;
