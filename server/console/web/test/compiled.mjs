// Compiles files of src/flows to JavaScript, so that tests in Node can import them.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** compiled returns the modules of the files with the names; they may import only each other, and packages. */
export async function compiled(...names) {
  const folder = mkdtempSync(join(import.meta.dirname, "..", "node_modules", ".test-"));
  for (const name of names) {
    const source = readFileSync(join(import.meta.dirname, "..", "src", "flows", `${name}.ts`), "utf8");
    const { outputText } = ts.transpileModule(source, { compilerOptions: { module: ts.ModuleKind.ES2022, target: ts.ScriptTarget.ES2022 } });
    writeFileSync(join(folder, `${name}.mjs`), outputText.replaceAll(/from "(\.\/\w+)"/g, 'from "$1.mjs"'));
  }
  const modules = await Promise.all(names.map((name) => import(join(folder, `${name}.mjs`))));
  rmSync(folder, { recursive: true });
  return modules;
}
