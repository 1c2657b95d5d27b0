// All texts in French.
export default Object.assign({}, ...Object.values(import.meta.glob<Record<string, string>>("./texts/*.ts", { query: "?french", import: "french", eager: true }))) as Record<string, string>;
