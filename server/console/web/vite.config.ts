import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const languages = ["german", "french"];

/** oneLanguage leaves only the texts of one language in a module that is imported with ?german or ?french: each language is a file of its own. */
const oneLanguage: Plugin = {
  name: "one-language",
  enforce: "pre",
  transform(code, id) {
    const wanted = /\/texts\/\w+\.ts\?(\w+)$/.exec(id)?.[1];
    if (wanted === undefined || !languages.includes(wanted)) {
      return undefined;
    }
    const others = languages.filter((language) => language !== wanted).join("|");
    return code.replace(new RegExp(`^export const (${others})\\b[^]*?^};$`, "gm"), "");
  },
};

// The server sets the base address of the page (<base href>), so every address here is relative.
// The gallery of components is a page of its own, and not in the product.
export default defineConfig(({ mode }) => ({
  base: "./",
  plugins: [oneLanguage, react()],
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    rolldownOptions: { input: mode === "gallery" ? "gallery.html" : "index.html" },
    assetsDir: "assets",
    assetsInlineLimit: 0, // the policy of the page allows no data: but for pictures
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
}));
