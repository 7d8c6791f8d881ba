/**
 * Watches the prompt cache: each finished call to a model is judged by the cache finder, in the inspector's thread, and the finding is kept.
 * Waiting calls, their facts and findings are bounded; a call beyond the bounds is not judged, and its verdict is `unknown`. When the thread
 * dies, the history begins anew.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Head } from "../../contract/domain/TrafficRecord.ts"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import { PriceBook } from "../usage/PriceBook.ts"
import { CacheBreaks, type CacheBreaksPage } from "./cache/CacheBreaks.ts"
import type { CacheFinding } from "./cache/CacheCall.ts"
import type { CacheJob } from "./cache/CacheJob.ts"
import type { CallFacts } from "./CapturedFacts.ts"
import { Inspector, RecordNotFound } from "./Inspector.ts"
import { maskHeaders } from "./masking/Masking.ts"
import type { RingEntry } from "./Ring.ts"
import { exchangeRead } from "./work/Exchange.ts"

export class CacheWatch extends Context.Tag("gateway/observe/inspector/CacheWatch")<
  CacheWatch,
  {
    /** Returns the finding for a record; `unknown` where it was not judged. */
    readonly of: (id: string) => Effect.Effect<CacheFinding, RecordNotFound>
    /** Breaks of calls since a moment, newest first. */
    readonly breaks: (sinceMs: number, limit: number) => CacheBreaksPage
    /** Every call that has finished up to now was judged. */
    readonly settled: Effect.Effect<void>
  }
>() {}

const maxFindings = 4_096

const credentialHeaders = ["authorization", "x-api-key", "api-key", "x-goog-api-key"]

/** Writes the credential as it may be shown: its last characters distinguish accounts. */
const accountOf = ({ requestHeaders }: Head): string | null => {
  const name = credentialHeaders.find((each) => requestHeaders[each] !== undefined)
  return name === undefined ? null : (maskHeaders({ [name]: requestHeaders[name] ?? "" })[name] ?? null)
}

/** Null: no call whose prompt can be read. */
export const jobOf = (
  { bodies, head }: RingEntry,
  facts: CallFacts | null,
  priceOf: (provider: string, model: string, atMs: number) => CacheJob["price"],
  isMasked: boolean
): CacheJob | null => {
  const { llm } = head
  const { requestBody } = bodies
  const model = facts?.model ?? llm?.mappedTo ?? llm?.model ?? null
  if (llm === null || model === null || requestBody === null) return null
  if (head.requestTruncated || head.requestEncoding !== "utf8") return null
  const atMs = Date.parse(head.timestamp)
  const provider = facts?.provider ?? llm.provider
  return {
    path: head.path,
    body: requestBody,
    isMasked,
    sent: facts === null || facts.body === null ? null : { wire: facts.wire, body: facts.body },
    price: provider === null ? null : priceOf(provider, model, atMs),
    call: {
      id: head.id,
      atMs,
      answeredAtMs: atMs + (llm.ttftMs ?? head.totalLatencyMs ?? 0),
      provider,
      account: facts === null ? accountOf(head) : facts.account,
      model,
      askedModel: llm.model ?? model,
      isRouted: facts !== null || head.source === "gateway",
      isAnswered: typeof head.status === "number" && head.status < 400,
      reported: llm.tokensEstimated
        ? null
        : { in: llm.tokensIn ?? 0, cacheRead: llm.cacheRead ?? 0, cacheWrite: llm.cacheWrite ?? 0 }
    }
  }
}

const unknown = ({ llm }: Head): CacheFinding => ({
  verdict: "unknown",
  cause: null,
  comparedWith: null,
  expectedTokens: 0,
  tokens:
    llm === null || llm.tokensEstimated
      ? { in: 0, cacheRead: 0, cacheWrite: 0 }
      : { in: llm.tokensIn ?? 0, cacheRead: llm.cacheRead ?? 0, cacheWrite: llm.cacheWrite ?? 0 },
  lostTokens: 0,
  lostUsd: null
})

const findingIn = (found: CacheFinding | string | undefined): CacheFinding | null =>
  found === undefined ? null : typeof found === "string" ? exchangeRead(found).finding : found

export const make = Effect.gen(function* () {
  const inspector = yield* Inspector
  const prices = yield* PriceBook
  /** Findings, as JSON of the exchange where they came with it: parsed when they are asked for. */
  const findings = new LruMap<string, CacheFinding | string>({ capacity: maxFindings })
  const breaks = new CacheBreaks(maxFindings)
  let judging: Promise<void> = Promise.resolve()

  const judge = async (job: CacheJob): Promise<void> => {
    const finding = await inspector.thread().run({ kind: "cache", job })
    if (finding === null) return
    findings.set(job.call.id, finding)
    breaks.add(job.call.id, job.call.atMs, finding)
  }

  const stop = inspector.onFinished({
    read: (entry, sent) => {
      const job = jobOf(entry, sent, prices.price, inspector.settings.maskSecrets)
      if (job === null) return
      // Jobs are done in the order in which they are given; a failed one costs its finding only.
      const done = judge(job).catch(() => undefined)
      judging = Promise.all([judging, done]).then(() => undefined)
    },
    judged: (id, report) => {
      findings.set(id, report.read)
      const finding = report.isBreak ? exchangeRead(report.read).finding : null
      const head = finding === null ? null : inspector.entry(id)?.head
      if (finding !== null && head) breaks.add(id, Date.parse(head.timestamp), finding)
    }
  })
  yield* Effect.addFinalizer(() => Effect.sync(stop))

  return CacheWatch.of({
    of: (id) =>
      Effect.suspend(() => {
        const entry = inspector.entry(id)
        if (entry === null) return new RecordNotFound({ id })
        return Effect.succeed(findingIn(findings.peek(id)) ?? unknown(entry.head))
      }),
    breaks: (sinceMs, limit) => breaks.list(sinceMs, limit),
    settled: Effect.zipRight(
      inspector.settled,
      Effect.promise(() => judging)
    )
  })
})

export const layer: Layer.Layer<CacheWatch, never, Inspector | PriceBook> = Layer.scoped(CacheWatch, make)
