/**
 * The ways of `plane/state/Replica` between gateways on one database: what one has learned is a row within 0.2 s, and the others read it as soon as the
 * database has told them. What clients and models have said is encrypted. What could not be written waits, and is told when the database is back.
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import { makeLane } from "../../kernel/Lane.ts"
import { forAtMost } from "../../kernel/time/AtMost.ts"
import { Timers } from "../../platform/Timers.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as ToldRows from "../../store/nodes/ToldRows.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import { type Happened, keptPrefix, mostGatheredBytes, SharedFunctions } from "../state/Replica.ts"

/** Time for which what has happened is gathered, in milliseconds: for a row of the database, and for a channel beside it. */
export const gatheredMs = 200
const quicklyGatheredMs = 50

/** Most that waits for the database; of more the oldest is not told. */
export const mostWaiting = 10_000

/** Difference of two gateways' clocks beyond which one does not follow the other: what happens has the time of the clock where it has happened. */
export const mostSkewMs = 5_000

/** Gateways whose last number is known. */
const mostNodes = 1_000

/** Things that are known to be heard: what a channel has lost the answer to comes as a row as well. */
const mostHeard = 20_000

/** Time between tries to write. */
const againEvery = "1 second"

/** Time for the last writing, when a gateway ends. */
const lastWithin = "2 seconds"

const Content = Schema.parseJson(Schema.Array(Schema.Tuple(Schema.String, Schema.Array(Schema.Unknown))))
const decode = Schema.decodeUnknownOption(Content)

export interface NodeReplicaShape {
  readonly functions: SharedFunctions
  /** Reads and applies what others have told. */
  readonly hear: Effect.Effect<void, StoreError>
  /** Removes what is too old. */
  readonly trim: Effect.Effect<void, StoreError>
  /** Time by the clock of the database up to which it was read. */
  readonly heardAtMs: () => number
  /** Count of things that wait to be told. */
  readonly waiting: () => number
  /** Count of things that were not told, as more than `mostWaiting` waited, or more content than fits. */
  readonly dropped: () => number
}

/** Something that is told, under the number of the gateway's own. */
export type Sent = Pick<ToldRows.Told, "content" | "node" | "number" | "sentMs">

/** A way beside the database, which is faster and may be lost. */
export interface Channel {
  readonly isReached: () => boolean
  /** Fails where that may not have arrived: then it goes over the database. */
  readonly tell: (sent: Sent) => Effect.Effect<void, { readonly message: string }>
}

/** Opens one; `heard` takes what others tell over it. */
export type OpenChannel = (
  heard: (told: ToldRows.Told) => Effect.Effect<void>
) => Effect.Effect<Channel, never, Scope.Scope>

/** Null: the process has its database for itself. */
export class NodeReplica extends Context.Reference<NodeReplica>()("gateway/plane/workers/NodeReplica", {
  defaultValue: (): NodeReplicaShape | null => null
}) {}

const isKept = ([name]: Happened): boolean => name.startsWith(keptPrefix)

const placeOf = (name: string) => ({ table: "cluster_told", column: "content", rowId: name })

/** Encrypts what clients and models have said, and reads it again; pure. */
const sealing = ({ decrypt, encrypt }: typeof Secrets.Service) => ({
  sealed: (happened: Happened): Happened =>
    isKept(happened)
      ? [happened[0], [encrypt(placeOf(happened[0]), Redacted.make(JSON.stringify(happened[1])))]]
      : happened,
  /** Null: encrypted with a key that this gateway has not. */
  opened: (happened: Happened): Happened | null => {
    if (!isKept(happened)) return happened
    const args = decrypt(placeOf(happened[0]), String(happened[1][0]))
    return Either.isLeft(args) ? null : [happened[0], JSON.parse(Redacted.value(args.right)) as ReadonlyArray<unknown>]
  }
})

type Sealing = ReturnType<typeof sealing>

/** Bytes of content that wait; other things are short. */
const keptBytesOf = (happened: ReadonlyArray<Happened>): number =>
  happened.reduce((sum, one) => sum + (isKept(one) ? String(one[1][0]).length : 0), 0)

type Rows = Effect.Effect.Success<typeof ToldRows.make>

/** Time in ms by which the clock of a gateway that has told something is ahead of this one's, both held against the database's. Pure. */
export const skewOf = ({ atMs, nowMs, sentMs }: ToldRows.Told, ownMs: number): number => sentMs - atMs - (ownMs - nowMs)

/** Tells over the channel, else by a row. */
const telling =
  (rows: Rows, channel: Channel | null) =>
  (sent: Sent): Effect.Effect<void, StoreError> => {
    // The time of now: what the channel has taken until then is no difference of clocks.
    const row = Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
      rows.tell(sent.node, sent.number, nowMs, sent.content)
    )
    return channel === null ? row : Effect.catchAll(channel.tell(sent), () => row)
  }

const makeTelling = (rows: Rows, node: string, { sealed }: Sealing, channel: Channel | null) =>
  Effect.gen(function* () {
    const send = telling(rows, channel)
    const some = yield* Effect.makeLatch(false)
    const inTurn = makeLane(1).inTurn
    let waiting: Array<Happened> = []
    /** Row that is written, until it is known to be: under the same number, as it may be there already. */
    let sent: { readonly content: string; readonly count: number } | null = null
    let number = 0
    let dropped = 0

    const tell = (happened: ReadonlyArray<Happened>): void => {
      // While the database is away content does not pile up.
      const isFull = keptBytesOf(waiting) > mostGatheredBytes
      const all = waiting.length + happened.length
      waiting = waiting.concat(happened.filter((one) => !isFull || !isKept(one)).map(sealed))
      if (waiting.length > mostWaiting) waiting = waiting.slice(-mostWaiting)
      dropped += all - waiting.length
      some.unsafeOpen()
    }
    const write = Effect.gen(function* () {
      some.unsafeClose()
      if (sent === null) {
        if (waiting.length === 0) return
        sent = { content: JSON.stringify(waiting), count: waiting.length }
        waiting = []
        number += 1
      }
      yield* send({ node, number, sentMs: yield* Clock.currentTimeMillis, content: sent.content })
      sent = null
      if (waiting.length > 0) some.unsafeOpen()
    }).pipe(Effect.uninterruptible, inTurn)

    yield* Effect.addFinalizer(() => forAtMost(lastWithin)(write))
    // Rows are gathered for longer than what goes over the channel.
    const slower = Effect.suspend(() =>
      channel === null || channel.isReached() ? Effect.void : Effect.sleep(gatheredMs - quicklyGatheredMs)
    )
    yield* some.await.pipe(
      Effect.zipRight(slower),
      Effect.zipRight(Effect.retry(Effect.disconnect(write), Schedule.spaced(againEvery))),
      Effect.forever,
      Effect.forkScoped
    )
    return { tell, waiting: () => waiting.length + (sent?.count ?? 0), dropped: () => dropped }
  })

/** Applies a row, one thing after the other: one that this version cannot apply must not keep the rest from it. */
const applied = (functions: SharedFunctions, { opened }: Sealing, content: string): Effect.Effect<void> =>
  Effect.forEach(
    Option.getOrElse(decode(content), () => []),
    (happened) =>
      Effect.catchAllDefect(
        Effect.sync(() => {
          const known = opened(happened)
          if (known !== null) functions.apply([known])
        }),
        (defect) => Effect.logDebug(`What another gateway has told (${happened[0]}) cannot be applied`, defect)
      ),
    { discard: true }
  )

/** Of this process, which is `node`; begins behind what was told before. */
export const make = (
  node: string,
  openChannel: OpenChannel | null = null
): Effect.Effect<NodeReplicaShape, StoreError, Secrets | SqlClient.SqlClient | Timers | Scope.Scope> =>
  Effect.gen(function* () {
    const rows = yield* ToldRows.make
    const seals = sealing(yield* Secrets)
    const { after } = yield* Timers
    let take: (told: ToldRows.Told) => Effect.Effect<void> = () => Effect.void
    const channel = openChannel === null ? null : yield* openChannel((told) => Effect.suspend(() => take(told)))
    const { dropped, tell, waiting } = yield* makeTelling(rows, node, seals, channel)
    const functions = new SharedFunctions(after, tell, {
      gatheredMs: channel === null ? gatheredMs : quicklyGatheredMs,
      isOverNodes: true
    })
    yield* Effect.addFinalizer(() => Effect.sync(() => functions.flush()))
    const inTurn = makeLane(1).inTurn
    const marks = new LruMap<string, number>({ capacity: mostNodes })
    for (const [other, number] of yield* rows.marks) marks.set(other, number)
    const skewed = new LruMap<string, true>({ capacity: mostNodes })
    const known = new LruMap<string, true>({ capacity: mostHeard })
    let heardAtMs = 0

    const warnOnce = (told: ToldRows.Told, skewMs: number): Effect.Effect<void> => {
      if (skewed.peek(told.node) !== undefined) return Effect.void
      skewed.set(told.node, true)
      return Effect.logWarning(
        `The clock of the gateway ${told.node} differs from this one's by ${Math.round(Math.abs(skewMs) / 1_000)} s: what it learns of accounts and providers is not taken over.`
      )
    }
    take = (told) =>
      Effect.flatMap(Clock.currentTimeMillis, (ownMs) => {
        const name = `${told.node} ${told.number}`
        if (channel !== null && known.peek(name) !== undefined) return Effect.void
        if (channel !== null) known.set(name, true)
        const skewMs = skewOf(told, ownMs)
        return Math.abs(skewMs) > mostSkewMs ? warnOnce(told, skewMs) : applied(functions, seals, told.content)
      })
    const hear = Effect.gen(function* () {
      for (const told of yield* rows.heard(node, Array.from(marks))) {
        marks.set(told.node, told.number)
        heardAtMs = Math.max(heardAtMs, told.atMs)
        yield* take(told)
      }
    }).pipe(Effect.uninterruptible, inTurn)

    return { functions, hear, trim: rows.trim, heardAtMs: () => heardAtMs, waiting, dropped }
  })
