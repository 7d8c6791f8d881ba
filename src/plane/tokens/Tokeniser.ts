/**
 * Token counts by the o200k vocabulary, and the texts of cl100k token ids, computed on a worker thread (`worker.mjs`), so that no text can block
 * the event loop. The thread starts with the first job and ends when it has been idle for a while. One job at a time; the queue is bounded, and
 * what cannot be counted in time is estimated from what was counted.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Scope } from "effect/Scope"
import { Worker } from "node:worker_threads"
import { type Timer, Timers } from "../../platform/Timers.ts"

export interface TokeniserLimits {
  /** Characters of one count that are tokenised; the rest is estimated by their ratio. */
  readonly maxChars: number
  /** Time the thread spends on one count. */
  readonly budgetMs: number
  /** Time until the thread is given up, starting it included. */
  readonly patienceMs: number
  /** Counts that may wait for the thread; further ones are estimated by size. */
  readonly maxWaiting: number
  /** The thread ends after this long without work: its vocabulary takes some 50 MB. */
  readonly idleMs: number
}

export const usualLimits: TokeniserLimits = {
  maxChars: 4_194_304,
  budgetMs: 2_000,
  patienceMs: 10_000,
  maxWaiting: 32,
  idleMs: 120_000
}

export class Tokeniser extends Context.Tag("gateway/plane/tokens/Tokeniser")<
  Tokeniser,
  {
    /** Tokens of all the texts together. Never fails; interruption removes the count from the queue. */
    readonly count: (texts: ReadonlyArray<string>) => Effect.Effect<number>
    /**
     * The text of each list of token ids of `cl100k_base`, the vocabulary of OpenAI's embedding models
     * (https://cookbook.openai.com/examples/how_to_count_tokens_with_tiktoken). Interruption removes the job from the queue.
     */
    readonly decode: (
      tokens: ReadonlyArray<ReadonlyArray<number>>
    ) => Effect.Effect<ReadonlyArray<string>, NotDecodable>
  }
>() {}

/** `unknown`: an id is none of the vocabulary. `too_many`: more ids than `maxDecodedTokens`. `busy`: the thread has no place or no time. */
export class NotDecodable extends Data.TaggedError("NotDecodable")<{
  readonly reason: "unknown" | "too_many" | "busy"
}> {}

/** Most tokens of one job: more than any embeddings endpoint takes in one request. */
export const maxDecodedTokens = 1_000_000

/** Average bytes per token, between prose (3.9) and JSON (2.3). */
const bytesPerToken = 3.3

/** Tokens of a text by its size alone. */
export const estimateBySize = (texts: ReadonlyArray<string>): number =>
  Math.ceil(texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0) / bytesPerToken)

/** The beginning of the texts, `maxChars` long at most. */
export const headOf = (texts: ReadonlyArray<string>, maxChars: number): ReadonlyArray<string> => {
  const head: Array<string> = []
  let room = maxChars
  for (const text of texts) {
    if (room <= 0) break
    if (text.length > 0) head.push(text.slice(0, room))
    room -= text.length
  }
  return head
}

/** The thread's answer. */
interface Counted {
  readonly id: number
  readonly tokens: number
  readonly chars: number
}

/** The total from the counted part. */
export const extrapolate = (
  texts: ReadonlyArray<string>,
  counted: Pick<Counted, "tokens" | "chars"> | null
): number => {
  const chars = texts.reduce((sum, text) => sum + text.length, 0)
  if (counted === null || counted.chars === 0) return estimateBySize(texts)
  return counted.chars >= chars ? counted.tokens : Math.ceil((counted.tokens * chars) / counted.chars)
}

/** `texts`: null where an id is unknown. */
interface Decoded {
  readonly id: number
  readonly texts: ReadonlyArray<string> | null
}

type Answer = Counted | Decoded

type Question = { readonly texts: ReadonlyArray<string> } | { readonly tokens: ReadonlyArray<ReadonlyArray<number>> }

interface Job {
  readonly id: number
  readonly question: Question
  readonly done: (answer: Answer | null) => void
}

const startWorker = (budgetMs: number): Worker =>
  new Worker(new URL("./worker.mjs", import.meta.url), {
    workerData: { budgetMs },
    execArgv: [],
    env: {},
    // The vocabulary needs some 30 MB. V8 lets a heap that may grow further grow faster: without these limits it takes half as much again.
    resourceLimits: { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 4 }
  })

export const makeWith = (
  limits: TokeniserLimits
): Effect.Effect<Context.Tag.Service<Tokeniser>, never, Timers | Scope> =>
  Effect.gen(function* () {
    const timers = yield* Timers
    const waiting: Array<Job> = []
    let worker: Worker | null = null
    let running: { readonly job: Job; readonly patience: Timer } | null = null
    let idle: Timer | null = null
    let lastId = 0

    const stop = (): void => {
      idle?.cancel()
      idle = null
      const stopped = worker
      worker = null
      void stopped?.terminate()
    }

    const finish = (answer: Answer | null): void => {
      const finished = running
      running = null
      finished?.patience.cancel()
      finished?.job.done(answer)
      next()
    }

    /** The thread died or takes too long: its count is estimated, the next one gets a new thread. */
    const giveUp = (failed: Worker | null): void => {
      if (failed === null || failed !== worker) return
      stop()
      finish(null)
    }

    const ready = (): Worker => {
      if (worker !== null) return worker
      const started = startWorker(limits.budgetMs)
      started.on("message", (answer: Answer) => {
        if (started === worker && answer.id === running?.job.id) finish(answer)
      })
      started.on("error", () => giveUp(started))
      started.on("exit", () => giveUp(started))
      // An idle thread must not keep the process alive.
      started.unref()
      worker = started
      return started
    }

    const next = (): void => {
      if (running !== null) return
      const job = waiting.shift()
      if (job === undefined) {
        if (worker !== null) idle = timers.after(limits.idleMs, stop)
        return
      }
      idle?.cancel()
      idle = null
      const { id, question } = job
      const thread = ready()
      running = { job, patience: timers.after(limits.patienceMs, () => giveUp(thread)) }
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, not a window
      thread.postMessage({ id, ...question })
    }

    const ask = (question: Question): Effect.Effect<Answer | null> =>
      Effect.async((resume) => {
        if (waiting.length >= limits.maxWaiting) return resume(Effect.succeed(null))
        lastId += 1
        const job: Job = { id: lastId, question, done: (answer) => resume(Effect.succeed(answer)) }
        waiting.push(job)
        next()
        return Effect.sync(() => {
          // A running count is not stopped, so that callers who interrupt and ask again cannot start more work at once.
          const place = waiting.indexOf(job)
          if (place >= 0) waiting.splice(place, 1)
        })
      })

    const count = Effect.fn("Tokeniser.count")((texts: ReadonlyArray<string>) => {
      const head = headOf(texts, limits.maxChars)
      if (head.length === 0) return Effect.succeed(0)
      return Effect.map(ask({ texts: head }), (answer) =>
        extrapolate(texts, answer !== null && "tokens" in answer ? answer : null)
      )
    })

    const decode = Effect.fn("Tokeniser.decode")(function* (tokens: ReadonlyArray<ReadonlyArray<number>>) {
      if (tokens.reduce((sum, list) => sum + list.length, 0) > maxDecodedTokens)
        return yield* new NotDecodable({ reason: "too_many" })
      const answer = yield* ask({ tokens })
      if (answer === null || !("texts" in answer)) return yield* new NotDecodable({ reason: "busy" })
      return answer.texts ?? (yield* new NotDecodable({ reason: "unknown" }))
    })

    yield* Effect.addFinalizer(() => Effect.sync(stop))
    return Tokeniser.of({ count, decode })
  })

export const layer: Layer.Layer<Tokeniser, never, Timers> = Layer.scoped(Tokeniser, makeWith(usualLimits))
