/**
 * Jobs and reports on their way between threads. Bodies of a message lie in one buffer, which is handed over: sent as they are, each would take
 * all memory along that it shares with others. Whole exchanges, of which there are many, go as one text and one buffer: a message is
 * copied object by object, and that costs more than all the work that is left for the event loop's thread.
 */
import type { Job, Reports } from "./ThreadJobs.ts"
import type { ExchangeJob, ExchangeReport } from "./Exchange.ts"
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

const isOfTask = (report: AnyReport | null): report is Report => report !== null && "request" in report

const inReport = (report: AnyReport | null, change: Change): AnyReport | null => {
  if (!isOfTask(report)) return report
  const { request, response } = report
  const shownIn = <Of extends Report["request"] | Report["response"]>(of: Of): Of =>
    of === null || of.shown === null ? of : { ...of, shown: { ...of.shown, bytes: change(of.shown.bytes) } }
  return { request: shownIn(request), response: shownIn(response) }
}

const packed = <Value>(
  values: ReadonlyArray<Value>,
  within: (value: Value, change: Change) => Value
): { readonly values: ReadonlyArray<Value>; readonly transfer: ReadonlyArray<ArrayBuffer> } => {
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

/** Bytes of several bodies one after the other. Of each the length is known elsewhere; that of none is -1. */
const joined = (bodies: ReadonlyArray<Uint8Array | null>): Uint8Array<ArrayBuffer> => {
  let length = 0
  for (const body of bodies) length += body?.byteLength ?? 0
  const bytes = new Uint8Array(length)
  let at = 0
  for (const body of bodies) {
    if (body === null) continue
    bytes.set(body, at)
    at += body.byteLength
  }
  return bytes
}

/** Takes the bodies out again, in order. */
const bodiesIn = (bytes: Uint8Array): ((length: number) => Uint8Array | null) => {
  let at = 0
  return (length) => {
    if (length < 0) return null
    at += length
    return bytes.subarray(at - length, at)
  }
}

const lengthOf = (body: Uint8Array | null): number => body?.byteLength ?? -1

/** A job as a list, in the order of `listed`: names of members would be half of the text. */
type SentExchange = ReturnType<typeof listed>

const listed = (job: ExchangeJob) =>
  [
    job.id,
    job.host,
    job.path,
    job.error,
    job.requestHeaders,
    job.requestSize,
    job.responseHeaders,
    job.responseSize,
    job.provider,
    job.atMs,
    job.ttftMs,
    job.totalMs,
    job.isAnswered,
    job.usage,
    job.call,
    job.limits,
    lengthOf(job.requestBody),
    lengthOf(job.responseBody),
    lengthOf(job.sentBody)
  ] as const

export interface JobsMessage {
  /** Null: the next of `exchanges`. */
  readonly jobs: ReadonlyArray<Job | null>
  /** JSON of lists; absent: there are none. */
  readonly exchanges?: string
  readonly bodies?: Uint8Array
}

export interface ReportsMessage {
  /** Null: it could not be done, or it is the next of `exchanges`. */
  readonly reports: ReadonlyArray<AnyReport | null>
  /** Text of all reports, one after the other; absent: there are none. */
  readonly exchanges?: string
  /**
   * Numbers of each: the place of its job, the lengths of its text and its bodies, whether it is a break, and the key
   * of its prompt.
   */
  readonly numbers?: Int32Array
  readonly bodies?: Uint8Array
}

const numbersEach = 7

/** A key of twelve hexadecimal digits as two numbers; -1: there is none. */
const numbersOfKey = (key: string | null): readonly [number, number] =>
  key === null ? [-1, -1] : [Number.parseInt(key.slice(0, 6), 16), Number.parseInt(key.slice(6), 16)]

const keyOfNumbers = (high: number, low: number): string | null =>
  high < 0 ? null : high.toString(16).padStart(6, "0") + low.toString(16).padStart(6, "0")

export interface Packed<Message> {
  readonly message: Message
  readonly transfer: ReadonlyArray<ArrayBuffer>
}

export const packedJobs = (all: ReadonlyArray<Job>): Packed<JobsMessage> => {
  const sent: Array<SentExchange> = []
  const bodies: Array<Uint8Array | null> = []
  const others = all.map((job): Job | null => {
    if (job.kind !== "exchange") return job
    const { exchange } = job
    bodies.push(exchange.requestBody, exchange.responseBody, exchange.sentBody)
    sent.push(listed(exchange))
    return null
  })
  const { transfer, values: jobs } = packed(others, (job, change) => (job === null ? null : inJob(job, change)))
  if (sent.length === 0) return { message: { jobs }, transfer }
  const bytes = joined(bodies)
  return { message: { jobs, exchanges: JSON.stringify(sent), bodies: bytes }, transfer: [...transfer, bytes.buffer] }
}

const exchangeIn = (sent: SentExchange, body: (length: number) => Uint8Array | null): ExchangeJob => ({
  id: sent[0],
  host: sent[1],
  path: sent[2],
  error: sent[3],
  requestHeaders: sent[4],
  requestSize: sent[5],
  responseHeaders: sent[6],
  responseSize: sent[7],
  provider: sent[8],
  atMs: sent[9],
  ttftMs: sent[10],
  totalMs: sent[11],
  isAnswered: sent[12],
  usage: sent[13],
  call: sent[14],
  limits: sent[15],
  requestBody: body(sent[16]),
  responseBody: body(sent[17]),
  sentBody: body(sent[18])
})

export const jobsIn = ({ bodies, exchanges, jobs }: JobsMessage): ReadonlyArray<Job> => {
  // Written by `packedJobs`.
  const sent: ReadonlyArray<SentExchange> = exchanges === undefined ? [] : JSON.parse(exchanges)
  const body = bodiesIn(bodies ?? new Uint8Array())
  let next = 0
  return jobs.flatMap((job): ReadonlyArray<Job> => {
    if (job !== null) return [job]
    const found = sent[next]
    next += 1
    return found === undefined ? [] : [{ kind: "exchange", exchange: exchangeIn(found, body) }]
  })
}

const isOfExchange = (report: AnyReport | null): report is ExchangeReport => report !== null && "read" in report

export const packedReports = (all: ReadonlyArray<AnyReport | null>): Packed<ReportsMessage> => {
  const numbers: Array<number> = []
  const texts: Array<string> = []
  const bodies: Array<Uint8Array | null> = []
  const others = all.map((report, place): AnyReport | null => {
    if (!isOfExchange(report)) return report
    const { isBreak, promptKey, read, requestBody, responseBody } = report
    numbers.push(place, read.length, lengthOf(requestBody), lengthOf(responseBody), isBreak ? 1 : 0)
    numbers.push(...numbersOfKey(promptKey))
    texts.push(read)
    bodies.push(requestBody, responseBody)
    return null
  })
  const { transfer, values: reports } = packed(others, inReport)
  if (texts.length === 0) return { message: { reports }, transfer }
  const bytes = joined(bodies)
  const message = { reports, exchanges: texts.join(""), numbers: Int32Array.from(numbers), bodies: bytes }
  return { message, transfer: [...transfer, bytes.buffer] }
}

/** Unpacks the reports in the order of the jobs; null: a job could not be done. */
export const reportsIn = ({ bodies, exchanges, numbers, reports }: ReportsMessage): ReadonlyArray<AnyReport | null> => {
  if (exchanges === undefined || numbers === undefined || bodies === undefined) return reports
  const all = reports.slice()
  const body = bodiesIn(bodies)
  let at = 0
  for (let index = 0; index < numbers.length; index += numbersEach) {
    const numberAt = (offset: number): number => numbers[index + offset] ?? -1
    const length = numberAt(1)
    const read = exchanges.slice(at, at + length)
    at += length
    const [requestBody, responseBody] = [body(numberAt(2)), body(numberAt(3))]
    const promptKey = keyOfNumbers(numberAt(5), numberAt(6))
    all[numberAt(0)] = { read, requestBody, responseBody, promptKey, isBreak: numberAt(4) === 1 }
  }
  return all
}
