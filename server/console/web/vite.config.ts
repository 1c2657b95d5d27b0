import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// The server sets the base address of the page (<base href>), so every address here is relative.
export default defineConfig({
  base: "./",
  plugins: [react()],
  build: {
    outDir: "../dist",
    emptyOutDir: true,
    assetsDir: "assets",
    target: "es2022",
    modulePreload: { polyfill: false },
    reportCompressedSize: true,
  },
});
