//go:build js && wasm

// Command wasm is the flow checker of the console. It sets the global function callStudio(name, input)
// and waits for calls: see studio.Studio.Call. The function collectGarbage() runs the garbage collector
// if much of the memory is garbage.
package main

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
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
		if isMostlyGarbage() {
			runtime.GC()
		}
		return nil
	}))
	select {}
}

// isMostlyGarbage reports whether a small part of the memory in use was in use when it was last
// collected.
func isMostlyGarbage() bool {
	sizes := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(sizes)
	return sizes[0].Value.Uint64() > 2*sizes[1].Value.Uint64()
}
