//go:build js && wasm

// Command wasm is the flow checker of the console. It sets the global function callStudio(name, input)
// and waits for calls: see studio.Studio.Call.
package main

import (
	"runtime/debug"
	"syscall/js"

	"github.com/postern-id/postern/flows/studio"
)

func main() {
	debug.SetGCPercent(400) // the collector has no processor of its own here
	s := studio.New()
	js.Global().Set("callStudio", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(s.Call(args[0].String(), []byte(args[1].String())))
	}))
	select {}
}
