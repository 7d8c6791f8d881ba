// Works on captured bodies on a thread of its own, so that no body can hold up the event loop. The build makes one file of this and all it
// imports; a Node that reads TypeScript runs it from source.
// In and out: the messages of `Packed.ts`, with the number of the batch as `id`.
import { parentPort } from "node:worker_threads"
import { handle } from "./Handle.ts"

parentPort.on("message", ({ id, ...jobs }) => {
  void handle(jobs).then(({ message, transfer }) => parentPort.postMessage({ id, ...message }, transfer))
})
