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
import { makeQuestions } from "../../platform/JobThread.ts"
import type { Timers } from "../../platform/Timers.ts"

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
  readonly texts: ReadonlyArray<string> | null
}

type Answer = Counted | Decoded

type Question = { readonly texts: ReadonlyArray<string> } | { readonly tokens: ReadonlyArray<ReadonlyArray<number>> }

export const makeWith = (
  limits: TokeniserLimits
): Effect.Effect<Context.Tag.Service<Tokeniser>, never, Timers | Scope> =>
  Effect.gen(function* () {
    const askThread = yield* makeQuestions<Question, Answer>({
      thread: {
        file: new URL("./worker.mjs", import.meta.url),
        workerData: { budgetMs: limits.budgetMs },
        // The vocabulary needs some 30 MB. V8 lets a heap that may grow further grow faster: without these limits it takes half as much again.
        resourceLimits: { maxOldGenerationSizeMb: 96, maxYoungGenerationSizeMb: 4 }
      },
      timeoutMs: limits.patienceMs,
      idleMs: limits.idleMs,
      maxWaiting: limits.maxWaiting,
      message: (question) => ({ message: question })
    })

    /** Null: the thread has no place or no time, or it died. */
    const ask = (question: Question): Effect.Effect<Answer | null> =>
      Effect.map(askThread(question), (outcome) => (outcome._tag === "Answered" ? outcome.answer : null))

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

    return Tokeniser.of({ count, decode })
  })

export const layer: Layer.Layer<Tokeniser, never, Timers> = Layer.scoped(Tokeniser, makeWith(usualLimits))
