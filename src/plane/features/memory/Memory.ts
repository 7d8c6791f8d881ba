/**
 * Memory: what is remembered of a caller is put before what the user says last, and stays there in later requests of the session. Off by
 * default (`memory` in `/api/settings`, `docs/memory.md`). Requests that the gateway makes itself (batches, evaluations, panels) are left as
 * they are.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as FiberSet from "effect/FiberSet"
import * as Layer from "effect/Layer"
import { headerOf } from "../../../subjects/auth/Credentials.ts"
import type { PlacedBlock } from "../../../subjects/memory/entity.ts"
import { GatewaySettings } from "../../../subjects/flags/StoredFlags.ts"
import { blockOf } from "../../memory/Block.ts"
import { Memories } from "../../memory/Memories.ts"
import { mostRecalled, recalled, type Standing, userTurns, type UserTurn, withBlocks } from "../../memory/Recall.ts"
import { textOf, turnsOf, withTurns } from "../../memory/Turns.ts"
import * as Timers from "../../../platform/Timers.ts"
import { estimateTexts } from "../../tokens/TextEstimate.ts"
import { codecs } from "../../../wire/Codec.ts"
import type { Json } from "../../../wire/json/Json.ts"
import { Embedder } from "../../embedding/Embedder.ts"
import { makeOwnVectors } from "../../embedding/OwnVectors.ts"
import { apiKeyIdOf, type Work } from "../../request/Exchange.ts"
import { rewritten } from "../../request/RewrittenWork.ts"
import type { Feature } from "../Feature.ts"
import { makeLearning } from "./Learning.ts"
import { takesNoSystemBetween } from "./UserOnly.ts"

export class Memory extends Context.Tag("gateway/plane/features/memory/Memory")<Memory, Feature>() {}

/** Writes the parts of the conversation besides its turns that distinguish one session from another. */
const sessionOf = ({ owner, parsed, sessionId }: Work): string =>
  JSON.stringify([owner, sessionId, parsed["previous_response_id"] ?? null])

const services = Effect.all({ memories: Memories, settings: GatewaySettings, timers: Timers.Timers })
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly vectorsOf: (
    { exchange, owner }: Work,
    model: string,
    texts: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<Float32Array> | null>
  readonly run: (background: Effect.Effect<void>) => unknown
}

const searched = ({ memories, settings, vectorsOf }: Deps, work: Work, text: string, limit: number) => {
  const filter = { apiKeyId: apiKeyIdOf(work.exchange) }
  const { model, strategy } = settings.current().memory
  return strategy === "exact" || model === null
    ? memories.search(filter, text, limit)
    : memories.recall({ filter, text, limit, vectors: { model, of: (texts) => vectorsOf(work, model, texts) } })
}

/** Notes the use behind the request, which does not wait for the store. */
const noteUse = ({ memories, run, timers }: Deps, { ids }: PlacedBlock): void =>
  timers.soon(() =>
    run(Effect.catchAll(memories.used(ids), (error) => Effect.logWarning("The use of memories was not noted", error)))
  )

const concerns = ({ settings }: Deps, { exchange }: Work): boolean =>
  settings.current().memory.enabled &&
  exchange.madeFor === "client" &&
  exchange.codec === codecs[exchange.wire] &&
  headerOf(exchange.headers, "x-gateway-no-memory")?.trim().toLowerCase() !== "true"

/** The block for the last turn, of memories that no earlier turn has; null for none. */
const found = (deps: Deps, work: Work, text: string, { place }: UserTurn, standing: ReadonlyArray<Standing>) =>
  Effect.map(searched(deps, work, text, mostRecalled + standing.length), (candidates): PlacedBlock | null => {
    const known = new Set(standing.flatMap(({ block }) => block.ids))
    const left = deps.settings.current().memory.maxTokens - standing.reduce((sum, { block }) => sum + block.tokens, 0)
    const fresh = candidates.filter(({ id }) => !known.has(id)).slice(0, mostRecalled)
    const block = blockOf(fresh, left, estimateTexts)
    return block === null ? null : { ...block, place }
  })

/** Decides for the last turn; two equal requests at once get the same block. */
const decided = (
  deps: Deps,
  work: Work,
  turns: ReadonlyArray<Json>,
  undecided: UserTurn,
  standing: ReadonlyArray<Standing>
): Effect.Effect<ReadonlyArray<Standing>> =>
  found(deps, work, textOf(work.exchange.wire, turns[undecided.at]), undecided, standing).pipe(
    Effect.map((block) => {
      if (block !== null) noteUse(deps, block)
      const known = deps.memories.blocks.at(undecided.name, deps.timers.nowMs())
      const last = known === undefined ? block : known
      if (known === undefined) {
        deps.memories.blocks.put(apiKeyIdOf(work.exchange), undecided.name, block, deps.timers.nowMs())
      }
      return last === null ? standing : [...standing, { at: undecided.at, turn: undecided.name, block: last }]
    }),
    Effect.catchAll((error) =>
      Effect.as(Effect.logWarning("The memory could not be searched; the request goes on without it", error), standing)
    )
  )

/** The blocks of the turns: as in earlier requests of the session, and what is decided for the last turn. */
const placed = (deps: Deps, work: Work, turns: ReadonlyArray<Json>): Effect.Effect<ReadonlyArray<Standing>> =>
  Effect.suspend(() => {
    const nowMs = deps.timers.nowMs()
    const users = userTurns(work.exchange.wire, sessionOf(work), turns)
    return Effect.flatMap(deps.memories.blocks.load(users, nowMs), () => {
      const { standing, undecided } = recalled(users, (turn) => deps.memories.blocks.at(turn, nowMs))
      deps.memories.blocks.used(
        standing.map(({ turn }) => turn),
        nowMs
      )
      return undecided === null ? Effect.succeed(standing) : decided(deps, work, turns, undecided, standing)
    })
  })

const withMemories = (deps: Deps, work: Work): Effect.Effect<Work> =>
  Effect.suspend(() => {
    const { wire } = work.exchange
    const turns = turnsOf(wire, work.parsed)
    if (turns === null) return Effect.succeed(work)
    return Effect.map(placed(deps, work, turns), (blocks) => {
      if (blocks.length === 0) return work
      work.trail.addHeader("X-Gateway-Memory", String(blocks.reduce((sum, { block }) => sum + block.ids.length, 0)))
      const asUser = takesNoSystemBetween(work.resolution)
      return rewritten(work, withTurns(wire, work.parsed, withBlocks(wire, turns, blocks, asUser)))
    })
  })

export const make = Effect.gen(function* () {
  const all = yield* services
  const run = yield* FiberSet.makeRuntime<never>()
  const learning = makeLearning(all.memories, all.timers, run)
  const vectorsOf = makeOwnVectors({
    embedder: yield* Embedder,
    timers: all.timers,
    failure: "The memory could not be searched by meaning; the request goes on with what is found by words"
  })
  const deps: Deps = { ...all, vectorsOf, run }

  return Memory.of({
    concerns: (work) => concerns(deps, work),
    around: (next) => (work) =>
      concerns(deps, work)
        ? Effect.flatMap(withMemories(deps, work), (asked) => next(learning(work, asked)))
        : next(work)
  })
})

export const layer: Layer.Layer<Memory, never, Effect.Effect.Context<typeof services> | Embedder> = Layer.scoped(
  Memory,
  make
)
