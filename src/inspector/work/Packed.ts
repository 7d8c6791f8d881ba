/**
 * Bodies on their way between threads: those of a message lie in one buffer, which is handed over. Sent as they are, each would take all memory
 * along that it shares with others.
 */
import type { Job, Reports } from "./ThreadJobs.ts"
import type { Report } from "./Work.ts"

type AnyReport = Reports[keyof Reports]

type Change = (bytes: Uint8Array) => Uint8Array

const inBody = <Body extends { readonly bytes: Uint8Array }>(body: Body | null, change: Change): Body | null =>
  body === null ? null : { ...body, bytes: change(body.bytes) }

const inJob = (job: Job, change: Change): Job => {
  switch (job.kind) {
    case "task": {
      const { limits, request, response } = job.task
      return {
        kind: "task",
        task: {
          request: request === null ? null : { ...request, body: inBody(request.body, change) },
          response: response === null ? null : { ...response, body: inBody(response.body, change) },
          limits
        }
      }
    }
    case "cache": {
      const { body, sent } = job.job
      return {
        kind: "cache",
        job: {
          ...job.job,
          body: change(body),
          sent: sent === null || typeof sent.body === "string" ? sent : { ...sent, body: change(sent.body) }
        }
      }
    }
    default:
      return job
  }
}

const isOfTask = (report: AnyReport): report is Report => report !== null && "request" in report

const inReport = (report: AnyReport, change: Change): AnyReport => {
  if (!isOfTask(report)) return report
  const { request, response } = report
  const shownIn = <Of extends Report["request"] | Report["response"]>(of: Of): Of =>
    of === null || of.shown === null ? of : { ...of, shown: { ...of.shown, bytes: change(of.shown.bytes) } }
  return { request: shownIn(request), response: shownIn(response) }
}

export interface Packed<Value> {
  readonly values: ReadonlyArray<Value>
  readonly transfer: ReadonlyArray<ArrayBuffer>
}

const packed = <Value>(
  values: ReadonlyArray<Value>,
  within: (value: Value, change: Change) => Value
): Packed<Value> => {
  let length = 0
  const count: Change = (bytes) => {
    length += bytes.byteLength
    return bytes
  }
  for (const value of values) within(value, count)
  if (length === 0) return { values, transfer: [] }
  const buffer = new ArrayBuffer(length)
  let at = 0
  const move: Change = (bytes) => {
    const moved = new Uint8Array(buffer, at, bytes.byteLength)
    moved.set(bytes)
    at += bytes.byteLength
    return moved
  }
  return { values: values.map((value) => within(value, move)), transfer: [buffer] }
}

export const packedJobs = (jobs: ReadonlyArray<Job>): Packed<Job> => packed(jobs, inJob)

export const packedReports = (reports: ReadonlyArray<AnyReport>): Packed<AnyReport> => packed(reports, inReport)
