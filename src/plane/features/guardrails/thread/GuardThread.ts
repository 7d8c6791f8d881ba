/**
 * Checks large requests on a thread (`guardThread.mjs`), which starts with the first and ends when it was idle for a while: one at a time, and
 * what waits is bounded by its bytes. Where the thread cannot start (a Node that reads no TypeScript, from source), they are checked here.
 */
import * as Effect from "effect/Effect"
import type { Scope } from "effect/Scope"
import { makeQuestions } from "../../../../platform/JobThread.ts"
import type { Timers } from "../../../../platform/Timers.ts"
import type { GuardJob, GuardReport } from "./GuardJob.ts"

export interface GuardThreadLimits {
  /** Bytes of requests that wait. */
  readonly maxWaitingBytes: number
  /** Time limit in ms for one request, the start of the thread included. */
  readonly timeoutMs: number
  readonly idleMs: number
}

export const usualGuardThreadLimits: GuardThreadLimits = {
  maxWaitingBytes: 256 * 1_048_576,
  timeoutMs: 30_000,
  idleMs: 60_000
}

/** `late`: it took too long, or too much waits. `failed`: a guardrail is at fault. */
export type Guarding = GuardReport | "late" | "failed"

export interface GuardThread {
  /** Interruption takes it out of the queue; what is in progress is not stopped. */
  readonly run: (job: GuardJob) => Effect.Effect<Guarding>
}

export const makeGuardThread = (
  { idleMs, maxWaitingBytes, timeoutMs }: GuardThreadLimits = usualGuardThreadLimits,
  file: URL = new URL("./guardThread.mjs", import.meta.url)
): Effect.Effect<GuardThread, never, Timers | Scope> =>
  Effect.gen(function* () {
    const ask = yield* makeQuestions<GuardJob, { readonly report: GuardReport | null }>({
      thread: { file, resourceLimits: { maxOldGenerationSizeMb: 768, maxYoungGenerationSizeMb: 32 } },
      timeoutMs,
      idleMs,
      maxWaiting: Number.POSITIVE_INFINITY,
      maxWeight: maxWaitingBytes,
      weightOf: ({ body }) => body.length,
      message: (job) => ({ message: { job } }),
      answerHere: async (job) => {
        const { guardJob } = await import("./GuardJob.ts")
        return { report: guardJob(job) }
      }
    })
    return {
      run: (job) =>
        Effect.map(ask(job), (outcome): Guarding => {
          if (outcome._tag === "Answered") return outcome.answer.report ?? "failed"
          return outcome._tag === "Died" ? "failed" : "late"
        })
    }
  })
