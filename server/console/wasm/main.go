//go:build js && wasm

// Command wasm is the flow checker of the console. It sets the global function callStudio(name, input)
// and waits for calls: see studio.Studio.Call. The function collectGarbage() runs the garbage collector.
package main

import (
	"runtime"
	"runtime/debug"
	"syscall/js"

	"github.com/postern-id/postern/flows/studio"
)

func main() {
	// The collector has no processor of its own here: a check would wait for it. The worker calls it when
	// there is nothing else to do.
	debug.SetGCPercent(800)
	s := studio.New()
	js.Global().Set("callStudio", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(s.Call(args[0].String(), []byte(args[1].String())))
	}))
	js.Global().Set("collectGarbage", js.FuncOf(func(js.Value, []js.Value) any {
		runtime.GC()
		return nil
	}))
	select {}
}
