// Works on captured bodies on a thread of its own, so that no body can hold up the event loop. The build makes one file of this and all it
// imports; a Node that reads TypeScript runs it from source.
// In: {id, jobs} as in `ThreadJobs.ts`. Out: {id, reports}, in the same order.
import { parentPort } from "node:worker_threads"
import { handle } from "./Handle.ts"

parentPort.on("message", ({ id, jobs }) => {
  void handle(jobs).then(({ reports, transfer }) => parentPort.postMessage({ id, reports }, transfer))
})
