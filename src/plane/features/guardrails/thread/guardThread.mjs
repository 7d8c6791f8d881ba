// Checks large requests on a thread of its own, so that no text and no pattern can hold up the event loop. The build makes one file of this
// and all it imports; a Node that reads TypeScript runs it from source.
// In: {id, job}. Out: {id, report}, where `report` is null when a guardrail failed.
import { parentPort } from "node:worker_threads"
import { guardJob } from "./GuardJob.ts"

const reportOf = (job) => {
  try {
    return guardJob(job)
  } catch {
    return null
  }
}

parentPort.on("message", ({ id, job }) => {
  const report = reportOf(job)
  const transfer = report === null || report.body === null ? [] : [report.body.buffer]
  parentPort.postMessage({ id, report }, transfer)
})
