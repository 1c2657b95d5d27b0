// The worker that runs the flow checker. The server puts the wasm_exec.js of the Go release before it.
// A message {id, name, input} calls a function; the answer is {id, reply}, or {id, failed} if the
// checker itself cannot run. Input and reply are JSON.
"use strict";

const started = (async () => {
  const go = new Go();
  const { instance } = await WebAssembly.instantiateStreaming(fetch("checker.wasm"), go.importObject);
  go.run(instance).catch(() => {}); // it sets callStudio before it waits; a call reports its end
})();

let idle;

self.onmessage = async ({ data: { id, name, input } }) => {
  clearTimeout(idle);
  try {
    await started;
    self.postMessage({ id, reply: self.callStudio(name, input) });
    idle = setTimeout(self.collectGarbage, 300); // while no call waits, and before the memory is full
  } catch (error) {
    self.postMessage({ id, failed: String(error) });
  }
};
