/**
 * Learns from a turn when its answer has reached the client: in the background, a limited number at once, and only from turns that a user has
 * begun. Nothing is learned from a turn with results of tools, whose text may come from anywhere.
 */
import type * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as FiberSet from "effect/FiberSet"
import { mayShowContent } from "../../../contract/domain/ContentPermission.ts"
import { type Learned, learnedOf } from "../../memory/Extraction.ts"
import type { Memories } from "../../memory/Memories.ts"
import { isUserTurn, textOf, turnsOf } from "../../memory/Turns.ts"
import type * as Timers from "../../../platform/Timers.ts"
import type { Json } from "../../../wire/json/Json.ts"
import { apiKeyIdOf, type Work } from "../../request/Exchange.ts"
import { type Recorded, recording } from "../../reply/Recorder.ts"
import { answerText } from "./AnswerText.ts"

type Run = Effect.Effect.Success<ReturnType<typeof FiberSet.makeRuntime<never>>>

/** Answers that are read at once; beyond it nothing is learned of a turn. */
const maxAtOnce = 8
/** Most bytes of an answer that is learned from. */
const maxAnswerBytes = 1_048_576

/** All detectors: personal data is never learned, whatever the guardrails are set to. */
const detecting = { disabled: new Set<string>(), custom: [] }

/** The detectors are loaded when something is to be kept for the first time: they are large. */
const withoutPersonalData = (learned: ReadonlyArray<Learned>): Effect.Effect<ReadonlyArray<Learned>> =>
  learned.length === 0
    ? Effect.succeed(learned)
    : Effect.map(
        Effect.promise(() => import("../../guard/Detectors.ts")),
        ({ findPersonalData }) => learned.filter(({ content }) => findPersonalData(content, detecting).length === 0)
      )

/** The last turn, where it is the user's own; null where nothing may be learned. */
const lastTurn = ({ exchange, parsed }: Work): Json | null => {
  const { principal, wire } = exchange
  if (mayShowContent(principal) === null) return null
  const last = turnsOf(wire, parsed)?.at(-1)
  return last !== undefined && isUserTurn(wire, last) ? last : null
}

/** Hot: a function that gives the second request a reply that is listened to; the first is what the client asked. */
export const makeLearning = (
  memories: Context.Tag.Service<typeof Memories>,
  timers: Context.Tag.Service<typeof Timers.Timers>,
  run: Run
) => {
  let running = 0

  const learn = ({ envelope, exchange, sessionId }: Work, turn: Json, heard: Recorded | null): Effect.Effect<void> =>
    Effect.suspend(() => {
      const answer = heard === null ? null : answerText(exchange.codec, envelope.stream, heard)
      const apiKeyId = apiKeyIdOf(exchange)
      const permission = mayShowContent(exchange.principal)
      if (permission === null) return Effect.void
      return Effect.flatMap(withoutPersonalData(learnedOf(textOf(exchange.wire, turn), answer)), (learned) =>
        Effect.forEach(
          learned,
          (each) => memories.write(permission, { ...each, apiKeyId, source: "extracted", sessionId }),
          {
            discard: true
          }
        )
      )
    }).pipe(
      Effect.catchTag("MemoryFull", () => Effect.void),
      Effect.catchAllCause((cause) => Effect.logWarning("A conversation could not be learned from", cause)),
      Effect.ensuring(Effect.sync(() => void (running -= 1)))
    )

  const begin = (work: Work, turn: Json, recorded: Recorded | null, hasMemories: boolean): void => {
    // An answer that did not end is no turn of a conversation.
    if (running >= maxAtOnce || recorded?.isEnded === false || (recorded !== null && recorded.status !== 200)) return
    running += 1
    // Behind the client's last byte, which is sent in this turn of the event loop.
    // An answer based on stored memories would only repeat them.
    timers.soon(() => run(learn(work, turn, hasMemories ? null : recorded)))
  }

  return (work: Work, asked: Work): Work => {
    const turn = lastTurn(work)
    if (turn === null) return asked
    const hasMemories = asked !== work
    const { reply: own } = asked.exchange
    const reply = recording(own, maxAnswerBytes, (recorded) => begin(work, turn, recorded, hasMemories))
    return { ...asked, exchange: { ...asked.exchange, reply } }
  }
}
