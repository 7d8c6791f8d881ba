// Works on captured bodies on a thread of its own, so that no body can hold up the event loop. The build makes one file of this and all it
// imports; a Node that reads TypeScript runs it from source.
// In: {id, task} as in `Work.ts`, {id, har: {bytes}}, or {id, attribution: {localPort, remotePort}}. Out: {id, report}, or {id, problem}.
import { parentPort } from "node:worker_threads"
import { handle } from "./ThreadJobs.ts"

parentPort.on("message", ({ id, job }) => {
  handle(job).then(
    ({ report, transfer }) => parentPort.postMessage({ id, report }, transfer),
    (error) =>
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      parentPort.postMessage({ id, problem: error instanceof Error ? error.message : String(error) })
  )
})
