// Package studio contains the functions of flow editors that need the engine, such as checking the text
// of a flow at each keystroke, and completion. The console runs them in the browser, compiled to
// WebAssembly (server/console/wasm), so they use no network, no files and no clock. The language server
// (package flows/lsp) calls them for files.
//
// JavaScript calls a function by its name with JSON, and receives JSON: see [Studio.Call]. A further
// function is a method with an input and a result, and one line in functions.
package studio
