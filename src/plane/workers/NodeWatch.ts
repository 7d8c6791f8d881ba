/**
 * One of several gateways on a database of Postgres: takes over what the others change in the configuration, as soon as they have, and is seen by
 * them. It hears of changes on a connection of its own, which is tried every few seconds and made anew when it is silent; and it looks by itself, so
 * that nothing depends on hearing.
 */
import { createHash } from "node:crypto"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Runtime from "effect/Runtime"
import * as Schedule from "effect/Schedule"
import * as Scope from "effect/Scope"
import { makeLane } from "../../kernel/Lane.ts"
import { forAtMost } from "../../kernel/time/AtMost.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { IdGen } from "../../platform/IdGen.ts"
import type { ValkeyAddress } from "../../platform/ValkeyAddress.ts"
import { named } from "../../store/engine/Table.ts"
import { nodeLabelOf } from "../../platform/NodeLabel.ts"
import { version } from "../../platform/Version.ts"
import { isPostgres } from "../../store/engine/Engine.ts"
import type { StoreError, StoreFailure } from "../../store/Errors.ts"
import { migrations, versionOf } from "../../store/migrations/index.ts"
import * as ConfigFeed from "../../store/nodes/ConfigFeed.ts"
import { nodeNameIn, WritingNode } from "../../store/nodes/NodeName.ts"
import * as NodeRows from "../../store/nodes/NodeRows.ts"
import { SnapshotHolders, Snapshots } from "../../store/Snapshots.ts"
import { Claims } from "../state/Claims.ts"
import { SharedTurns } from "../state/Renewals.ts"
import { Replica } from "../state/Replica.ts"
import { SharedValkey } from "../state/SharedValkey.ts"
import { SharedDatabase } from "../state/SharedDatabase.ts"
import type { Timers } from "../../platform/Timers.ts"
import * as NodeClaims from "./NodeClaims.ts"
import { canaryRow, Secrets } from "../../store/secrets/Secrets.ts"
import * as NodeReplica from "./NodeReplica.ts"

/** The channel of migration 55. */
const channel = "gateway_config"

/** Time between two looks, signs and trials of the listening connection. */
const lookEvery = "5 seconds"

/** Time that a look may take. */
const answersWithin = "15 seconds"

/** A node that was not seen for so long does not run, or does not reach the database. */
export const lostAfterMs = 20_000

/** This process among the nodes; null: it has its database for itself. */
export class ThisNode extends Context.Reference<ThisNode>()("gateway/plane/workers/ThisNode", {
  defaultValue: (): NodeRows.NodeFacts | null => null
}) {}

/** Holders that know from which change on they are to be told. */
class NodeHolders extends SnapshotHolders {
  readonly mark: ConfigFeed.ConfigMark
  constructor(mark: ConfigFeed.ConfigMark) {
    super(mark.lastSeq)
    this.mark = mark
  }
}

/**
 * The way over Valkey, loaded where it is used. Gateways of another database have another stream, also with the same key: what marks a database is made
 * at random when its tables are.
 */
const overValkey = (address: ValkeyAddress, node: string) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const secrets = yield* Secrets
    const ValkeyTelling = yield* Effect.promise(() => import("./ValkeyTelling.ts"))
    const [row] = yield* sql<{ readonly value: string }>`SELECT value FROM meta WHERE key = ${canaryRow}`.pipe(
      Effect.mapError(named("NodeWatch.overValkey"))
    )
    const key = `gateway:{${createHash("sha256")
      .update(row?.value ?? "")
      .digest("hex")
      .slice(0, 24)}}:told`
    const reach = ValkeyTelling.unasked(address)
    const open: NodeReplica.OpenChannel = (heard) => ValkeyTelling.open({ address, key, node, reach, secrets }, heard)
    return { open, reach }
  })

/** Layer below everything that reads the configuration; of a database of SQLite it has nothing. */
export const heldLayer: Layer.Layer<
  never,
  StoreError | StoreFailure,
  AppConfig | IdGen | Secrets | SqlClient.SqlClient | Timers
> = Layer.scopedContext(
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    if (!isPostgres(sql)) return Context.empty()
    const { begin } = yield* ConfigFeed.make
    const startedAtMs = yield* Clock.currentTimeMillis
    const config = yield* AppConfig
    const id = (yield* IdGen).next(startedAtMs)
    const node: NodeRows.NodeFacts = {
      id,
      folder: yield* nodeNameIn(config.dataDir, id),
      name: nodeLabelOf(config) ?? id,
      version,
      schemaVersion: versionOf(migrations),
      startedAtMs
    }
    const telling = config.valkey === null ? null : yield* overValkey(config.valkey, id)
    const replica = yield* NodeReplica.make(node.id, telling?.open ?? null)
    return Context.make(Snapshots, new NodeHolders(yield* begin)).pipe(
      Context.add(ThisNode, node),
      Context.add(WritingNode, node.name),
      Context.add(SharedDatabase, { node: node.name, problem: null }),
      Context.add(SharedValkey, telling?.reach ?? null),
      Context.add(NodeReplica.NodeReplica, replica),
      Context.add(Replica, replica.functions),
      Context.add(Claims, yield* NodeClaims.make(node.id, node.folder)),
      Context.add(SharedTurns, yield* NodeClaims.turns(node.id))
    ) as Context.Context<never>
  })
)

/** The listening connection, and whether it still hears: a sign that was sent on another one comes back. */
const makeEar = (url: Redacted.Redacted, id: string, changed: () => void, told: () => void) =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    const { listen } = yield* Effect.promise(() => import("../../store/engine/postgres/Listen.ts"))
    let open: Scope.CloseableScope | null = null
    let sent = 0
    let returned = 0

    const heard = (text: string): void => {
      const [kind, from, number] = text.split(" ")
      if (kind === "changed") changed()
      else if (kind === "told") {
        if (from !== id) told()
      } else if (from === id) returned = Number(number)
    }
    /** A connection whose other end is gone may take for ever to close: it is not waited for. */
    const close = Effect.suspend(() => {
      const scope = open
      open = null
      return scope === null
        ? Effect.void
        : Effect.forkDaemon(Effect.ignore(Effect.sandbox(Scope.close(scope, Exit.void))))
    })
    yield* Effect.addFinalizer(() => close)

    const connect = Effect.gen(function* () {
      const scope = yield* Scope.make()
      open = scope
      returned = sent
      yield* Effect.onError(
        Scope.extend(listen({ url, channel, name: `gateway listen ${id}` }, heard), scope),
        () => close
      )
    })
    const sign = Effect.suspend(() => sql`SELECT pg_notify(${channel}, ${`sign ${id} ${(sent += 1)}`})`)
    /** Sends a sign, or connects anew where the last one has not come back. */
    return Effect.suspend(() =>
      open !== null && returned === sent ? sign : Effect.zipRight(close, connect)
    ) as Effect.Effect<unknown, { readonly message: string }>
  })

/** Runs an effect once for all calls that come before it has begun. */
const soon = (effect: Effect.Effect<void, StoreError>, runFork: (effect: Effect.Effect<void>) => unknown) => {
  let isWaiting = false
  const once = Effect.suspend(() => {
    isWaiting = false
    return Effect.ignore(effect)
  })
  return (): void => {
    if (isWaiting) return
    isWaiting = true
    runFork(once)
  }
}

const others = (rows: ReadonlyArray<NodeRows.NodeRow>, own: string): number =>
  rows.filter(({ id, silentMs }) => id !== own && silentMs < lostAfterMs).length

const warnOfOthers = (count: number): Effect.Effect<void> =>
  count === 0
    ? Effect.void
    : Effect.logWarning(
        `${count === 1 ? "Another gateway uses" : `${count} other gateways use`} this database: docs/cluster.md says what holds over several.`
      )

const make = Effect.gen(function* () {
  const holders = yield* Snapshots
  const node = yield* ThisNode
  const replica = yield* NodeReplica.NodeReplica
  const reach = yield* SharedDatabase
  const { databaseUrl } = yield* AppConfig
  if (!(holders instanceof NodeHolders) || node === null || replica === null || reach === null || databaseUrl === null)
    return
  const feed = yield* ConfigFeed.make
  const rows = yield* NodeRows.make
  const oneAtATime = makeLane(1)
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  let mark = holders.mark

  const seen = Effect.suspend(() => rows.seen(node, mark.lastSeq, replica.heardAtMs()))
  const look = Effect.gen(function* () {
    const { changes, mark: next } = yield* feed.since(mark)
    yield* changes === null ? holders.reloadAll() : holders.reload(changes)
    const isFurther = next.lastSeq > mark.lastSeq
    mark = next
    if (isFurther) yield* seen
  }).pipe(Effect.uninterruptible, oneAtATime.inTurn)

  const ear = yield* makeEar(databaseUrl, node.id, soon(look, runFork), soon(replica.hear, runFork))

  const round = Effect.all([ear, look, replica.hear, replica.trim, seen], { discard: true }).pipe(
    Effect.disconnect,
    Effect.timeoutFail({
      duration: answersWithin,
      onTimeout: () => ({ message: `it gives no answer within ${answersWithin}` })
    }),
    Effect.matchEffect({
      onFailure: ({ message }) =>
        Effect.suspend(() => {
          const isKnown = reach.problem !== null
          reach.problem = message
          if (isKnown) return Effect.void
          return Effect.logWarning(`What other gateways change is not seen until the database is back: ${message}`)
        }),
      onSuccess: () =>
        Effect.suspend(() => {
          if (reach.problem === null) return Effect.void
          reach.problem = null
          return Effect.logInfo("The database is back, and with it what other gateways have changed.")
        })
    })
  )
  yield* Effect.ignore(Effect.flatMap(rows.list, (all) => warnOfOthers(others(all, node.id))))
  yield* Effect.addFinalizer(() => forAtMost("2 seconds")(rows.gone(node.id)))
  yield* round
  yield* Effect.forkScoped(Effect.schedule(round, Schedule.spaced(lookEvery)))
})

export const layer: Layer.Layer<never, never, AppConfig | SqlClient.SqlClient> = Layer.scopedDiscard(make)
