/** Carries out a plan of `InstallPlan`, and reports each step as it begins. */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import type * as Redacted from "effect/Redacted"
import * as Stream from "effect/Stream"
import { harmless } from "../../../kernel/text/TerminalText.ts"
import { failed, type MeshToolFailed } from "./Failures.ts"
import type { Plan, PlanStep } from "./InstallPlan.ts"
import { cleaned, type MeshClient } from "./MeshClient.ts"
import { isSudoLine } from "./Sudo.ts"
import { lastWords } from "./Texts.ts"

export interface MeshProgress {
  readonly step: string
  readonly message: string
  /** Null: not known. */
  readonly percent: number | null
}

/** Time limit in ms of one step: packages are fetched over lines of all kinds. */
const stepMs = 900_000
/** Lines that the reader has not taken yet. */
const mostPendingEvents = 64
const mostMessageChars = 200

const runStep = (
  client: MeshClient,
  { args, asRoot, message, program }: PlanStep,
  sudoPassword: Redacted.Redacted | null,
  onLine: (line: string) => void
): Effect.Effect<void, MeshToolFailed> =>
  Effect.gen(function* () {
    const path = yield* client.find(program)
    if (path === null) return yield* failed(`${message}: the program '${program}' is not on this machine.`)
    const extra = { timeoutMs: stepMs, onLine }
    const result = yield* asRoot ? client.asRoot(path, args, sudoPassword, extra) : client.run(path, args, extra)
    if (result.code === 0) return
    const words = lastWords(result, cleaned(sudoPassword))
    const why = result.stoppedBy === "time" ? "it took too long" : words === "" ? "it failed without a word" : words
    return yield* failed(`${message}: ${why}`)
  })

/** The steps one after the other; the first that fails ends it. */
export const carryOut = (
  client: MeshClient,
  plan: Plan,
  sudoPassword: Redacted.Redacted | null
): Stream.Stream<MeshProgress, MeshToolFailed> => {
  if (plan._tag === "Unsupported") return Stream.fail(failed(plan.advice))
  const clean = cleaned(sudoPassword)
  const stepEvents = (step: PlanStep, at: number): Stream.Stream<MeshProgress, MeshToolFailed> => {
    const percent = Math.floor((100 * at) / plan.steps.length)
    const event = (text: string): MeshProgress => ({
      step: step.step,
      message: harmless(clean(text)).slice(0, mostMessageChars),
      percent
    })
    const lines = Stream.unwrapScoped(
      Effect.gen(function* () {
        // The oldest lines give way: the end, null, is the youngest.
        const queue = yield* Effect.acquireRelease(
          Queue.sliding<MeshProgress | null>(mostPendingEvents),
          Queue.shutdown
        )
        const running = yield* Effect.forkScoped(
          Effect.ensuring(
            runStep(client, step, sudoPassword, (line) => {
              if (line.trim() !== "" && !isSudoLine(line)) queue.unsafeOffer(event(line.trim()))
            }),
            Queue.offer(queue, null)
          )
        )
        return Stream.fromQueue(queue).pipe(
          Stream.takeWhile((item): item is MeshProgress => item !== null),
          Stream.concat(Stream.drain(Stream.fromEffect(running)))
        )
      })
    )
    return Stream.concat(Stream.succeed(event(step.message)), lines)
  }
  return Stream.fromIterable(plan.steps.entries()).pipe(Stream.flatMap(([at, step]) => stepEvents(step, at)))
}
