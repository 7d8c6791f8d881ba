/**
 * Asks upstreams for their models in the background: of each connection at start, whenever what decides the answer was changed, and daily.
 * A question that fails for a passing reason is repeated with growing pauses; any other waits for the next change or day. Servers on this
 * machine and in its network are left alone while the flag `GATEWAY_DISABLE_LOCAL_HEALTHCHECK` is on.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as FiberMap from "effect/FiberMap"
import * as Layer from "effect/Layer"
import * as Queue from "effect/Queue"
import * as Schedule from "effect/Schedule"
import { claimed } from "../../plane/state/Claims.ts"
import { type Lane, makeLane } from "../../kernel/Lane.ts"
import { createHash } from "node:crypto"
import { isLocalAddress } from "../../net/egress/OutboundPolicy.ts"
import { Flags } from "../../subjects/flags/service.ts"
import * as Catalog from "./Catalog.ts"
import { listSourceOf } from "./ModelListFetch.ts"
import * as ModelLists from "./ModelLists.ts"
import * as TokenRefresh from "./oauth/TokenRefresh.ts"
import * as ProviderCalls from "./ProviderCalls.ts"

/** Keeps the lists up to date for as long as it is there. */
export class ModelSync extends Context.Tag("gateway/plane/providers/ModelSync")<ModelSync, Record<never, never>>() {}

/** Questions in progress at a time: those an operator waits for, and all others. */
export const atATime = 8

/** 1 s, 2 s, 4 s, … up to a quarter of an hour, for as long as the trouble lasts. */
const whilePassing = Schedule.exponential("1 second").pipe(
  Schedule.union(Schedule.spaced("15 minutes")),
  Schedule.jittered
)

const daily = Schedule.spaced("1 day").pipe(Schedule.jittered)

/** A question without an answer; the list keeps the reason. */
class NotListedNow extends Data.TaggedError("NotListedNow")<{ readonly isTransient: boolean }> {}

/**
 * Hashes the settings that decide how a connection's models are fetched, so that changes by the operator show; holds no
 * secret in clear.
 */
const fingerprintOf = ({ connection, spec }: Catalog.Account, source: string): string =>
  createHash("sha256")
    .update(JSON.stringify([source, connection.updatedAtMs, connection.authType, spec.headers, spec.auth]))
    .digest("base64url")

interface Question {
  /** Origin and path of the list. */
  readonly source: string
  readonly fingerprint: string
  readonly isLocal: boolean
}

const quietFlag = "GATEWAY_DISABLE_LOCAL_HEALTHCHECK"

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog.Catalog
  const lists = yield* ModelLists.ModelLists
  const calls = yield* ProviderCalls.ProviderCalls
  const tokens = yield* TokenRefresh.TokenRefresh
  const flags = yield* Flags
  const fibers = yield* FiberMap.make<string>()
  const urgent = makeLane(atATime)
  const patient = makeLane(atATime)
  /** Fingerprint of the question that was asked last, by connection. */
  const asked = new Map<string, string>()
  const questions = new WeakMap<Catalog.Account, Question>()

  const questionOf = (account: Catalog.Account): Question | null => {
    const known = questions.get(account)
    if (known !== undefined) return known
    const source = listSourceOf(account.spec, account.connection)
    if (source === null) return null
    const question = { source, fingerprint: fingerprintOf(account, source), isLocal: isLocalAddress(source) }
    questions.set(account, question)
    return question
  }

  const ask = Effect.fn("ModelSync.ask")(function* (connectionId: string) {
    const account = tokens.current(connectionId)
    if (account === null) return
    const { connection } = account
    const result = yield* calls.models(connection, { refresh: true })
    if (result._tag === "NotListed") return yield* new NotListedNow({ isTransient: result.isTransient })
  })

  /** The first question in a lane of its own: what an operator has just connected does not wait for a start with many connections. */
  const keepAsking = (connectionId: string, firstLane: Lane) => {
    let lane = firstLane
    const question = Effect.suspend(() => {
      const { inTurn } = lane
      lane = patient
      return inTurn(ask(connectionId))
    })
    return question.pipe(
      Effect.retry({ schedule: whilePassing, while: ({ isTransient }) => isTransient }),
      Effect.ignore,
      Effect.catchAllDefect((defect) => Effect.logError(`Listing the models of ${connectionId} broke off`, defect)),
      Effect.repeat(daily)
    )
  }

  /** Asks where the question is another one than the last time, and lets go of what belongs to no connection any more. */
  const look = Effect.fnUntraced(function* (lane: Lane) {
    const { byConnection, connections } = catalog.current()
    const ids = new Set(connections.map(({ id }) => id))
    for (const id of lists.connections()) if (!ids.has(id)) yield* lists.forget(id)
    const skipsLocal = flags.isOn(quietFlag)
    const mayAsk = (question: Question): boolean => !(skipsLocal && question.isLocal)
    for (const id of asked.keys()) {
      const account = byConnection.get(id)
      const question = account === undefined ? null : questionOf(account)
      // A question that is gone keeps its daily turn: the connection may get its list back.
      if (account !== undefined && (question === null || mayAsk(question))) continue
      asked.delete(id)
      yield* FiberMap.remove(fibers, id)
    }
    const learnedAtMs = (id: string): number => lists.stateOf(id)?.learnedAtMs ?? 0
    const changed = [...byConnection].flatMap(([id, account]) => {
      const question = questionOf(account)
      if (question === null || !mayAsk(question) || asked.get(id) === question.fingerprint) return []
      return [{ id, ...question }]
    })
    for (const { fingerprint, id, source } of changed.toSorted((a, b) => learnedAtMs(a.id) - learnedAtMs(b.id))) {
      asked.set(id, fingerprint)
      const state = lists.stateOf(id)
      // Another upstream's list says nothing of this one.
      if (state !== null && state.source !== source) yield* lists.forget(id)
      yield* FiberMap.run(fibers, id, keepAsking(id, lane))
    }
  })

  if (!flags.isOn("GATEWAY_DISABLE_BACKGROUND_SERVICES")) {
    const changes = yield* Queue.sliding<void>(1)
    const lookAgain = () => void Queue.unsafeOffer(changes, undefined)
    yield* Effect.acquireRelease(
      Effect.sync(() => [catalog.onChange(lookAgain), flags.onChange(quietFlag, lookAgain)]),
      (stops) => Effect.sync(() => stops.forEach((stop) => stop()))
    )
    yield* Effect.forkScoped(
      claimed(
        "model-sync",
        Effect.zipRight(look(patient), Effect.forever(Effect.zipRight(Queue.take(changes), look(urgent))))
      )
    )
  }
  return ModelSync.of({})
})

export const layer: Layer.Layer<
  ModelSync,
  never,
  Catalog.Catalog | ModelLists.ModelLists | ProviderCalls.ProviderCalls | TokenRefresh.TokenRefresh | Flags
> = Layer.scoped(ModelSync, make)
