/**
 * The way over Valkey by which gateways on one database tell each other what they learn: within some milliseconds, all of it encrypted. What Valkey does not take
 * goes over the database (`NodeReplica`), so that its loss makes the news slower, and nothing else: the connection is made anew by itself, and goes on where
 * it was.
 */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import type * as Scope from "effect/Scope"
import { asSentence } from "../../kernel/text/Sentence.ts"
import { shownOf, type ValkeyAddress } from "../../platform/ValkeyAddress.ts"
import type { Told } from "../../store/nodes/ToldRows.ts"
import type { Secrets } from "../../store/secrets/Secrets.ts"
import { type Connection, connect, ValkeyError } from "../../store/valkey/Connection.ts"
import * as ToldStream from "../../store/valkey/ToldStream.ts"
import type { ValkeyReach } from "../state/SharedValkey.ts"
import type { Channel, Sent } from "./NodeReplica.ts"

/** Time between tries to connect. */
const againAfter = "1 second"

/** Everything that says where an entry comes from is part of its place: none can be told again under another number. */
const placeOf = ({ node, number, sentMs }: Omit<Sent, "content">) => ({
  table: "valkey",
  column: "told",
  rowId: `${node} ${number} ${sentMs}`
})

export interface Telling {
  readonly address: ValkeyAddress
  /** Key of the stream. */
  readonly key: string
  readonly node: string
  readonly secrets: typeof Secrets.Service
  readonly reach: ValkeyReach
}

const notThere = new ValkeyError({ message: "there is no connection" })

/** Says once when it is lost, and when it is back. */
const makeReach = (reach: ValkeyReach) => ({
  lost: ({ message }: ValkeyError): Effect.Effect<void> =>
    Effect.suspend(() => {
      const isKnown = reach.problem !== null
      reach.problem = message
      if (isKnown) return Effect.void
      return Effect.logWarning(
        `Valkey at ${reach.address} cannot be used: ${asSentence(message)} What gateways tell each other goes over the database meanwhile.`
      )
    }),
  back: Effect.suspend(() => {
    if (reach.problem === null) return Effect.void
    reach.problem = null
    return Effect.logInfo(`Valkey at ${reach.address} is back.`)
  })
})

/** Opens the way; `heard` is run with everything that others tell. */
export const open = (
  { address, key, node, reach, secrets }: Telling,
  heard: (told: Told) => Effect.Effect<void>
): Effect.Effect<Channel, never, Scope.Scope> =>
  Effect.gen(function* () {
    const { back, lost } = makeReach(reach)
    let writer: Connection | null = null
    let place: string | null = null
    let serverMs = 0

    const take = (entry: ToldStream.Entry, nowMs: number): Effect.Effect<void> => {
      const content = secrets.decrypt(placeOf(entry), entry.content)
      // Of a gateway with another key, or made by another program.
      return Either.isLeft(content) ? Effect.void : heard({ ...entry, nowMs, content: Redacted.value(content.right) })
    }
    const read = (reader: Connection) =>
      Effect.gen(function* () {
        const found = yield* ToldStream.next(reader, key, place ?? ToldStream.begin)
        serverMs = found.nowMs
        const ofOthers = found.entries.filter((entry) => entry.node !== node)
        reach.heard += ofOthers.length
        const latest = ofOthers.at(-1)
        if (latest !== undefined) reach.lagMs = Math.max(0, found.nowMs - latest.atMs)
        yield* Effect.forEach(ofOthers, (entry) => take(entry, found.nowMs), { discard: true })
        place = found.place
      })
    const session = Effect.gen(function* () {
      const own = yield* connect(address, `gateway-tells-${node}`)
      const reader = yield* connect(address, `gateway-hears-${node}`)
      const last = yield* ToldStream.last(reader, key)
      // What was told before the first connection is not for this process. A stream that ends before our place is another one.
      if (place === null) place = last
      else if (ToldStream.isBehind(last, place)) place = ToldStream.begin
      writer = own
      yield* back
      yield* Effect.raceFirst(Effect.forever(read(reader)), own.ended)
    }).pipe(
      Effect.ensuring(
        Effect.sync(() => {
          writer = null
        })
      ),
      Effect.scoped
    )
    yield* Effect.catchAll(session, lost).pipe(
      Effect.zipRight(Effect.sleep(againAfter)),
      Effect.forever,
      Effect.forkScoped
    )
    return {
      isReached: () => writer !== null,
      tell: (sent) =>
        Effect.suspend(() => {
          if (writer === null) return Effect.fail(notThere)
          const content = secrets.encrypt(placeOf(sent), Redacted.make(sent.content))
          return Effect.zipRight(ToldStream.add(writer, key, { ...sent, content }, serverMs), back).pipe(
            Effect.tapError(lost)
          )
        }).pipe(
          Effect.tapBoth({
            onSuccess: () =>
              Effect.sync(() => {
                reach.told += 1
              }),
            onFailure: () =>
              Effect.sync(() => {
                reach.overDatabase += 1
              })
          })
        )
    }
  })

/** Reach of a server that was not asked yet. */
export const unasked = (address: ValkeyAddress): ValkeyReach => ({
  address: shownOf(address),
  problem: null,
  told: 0,
  overDatabase: 0,
  heard: 0,
  lagMs: null
})
