// Works on captured bodies on a thread of its own, so that no body can hold up the event loop. The build makes one file of this and all it
// imports; a Node that reads TypeScript runs it from source.
// In and out: the messages of `Packed.ts`, with the number of the batch as `id`.
import os from "node:os"
import { parentPort } from "node:worker_threads"
import { handle } from "./Handle.ts"

// Where cores are scarce, traffic goes first. On Linux the priority is that of the thread alone, elsewhere it would be the whole program's.
try {
  if (process.platform === "linux") os.setPriority(0, 10)
} catch {
  // Where that is not allowed, it works at the usual one.
}

parentPort.on("message", ({ id, ...jobs }) => {
  void handle(jobs).then(({ message, transfer }) => parentPort.postMessage({ id, ...message }, transfer))
})
