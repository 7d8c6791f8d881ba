/**
 * Hands batches over to providers that run batches themselves: uploads the lines, has a batch made of them, waits for its end, and brings the
 * results back in the gateway's own form, each with its usage row. What the provider knows is stored before the next step, so that a gateway
 * that was killed goes on waiting and makes nothing twice.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import { join } from "node:path"
import { ApiKeys } from "../../auth/ApiKeys.ts"
import type { Batch, ProviderBatch } from "../entity.ts"
import { Upstream } from "../../../net/egress/Upstream.ts"
import { Files } from "../../files/service.ts"
import { GatewaySettings } from "../../flags/StoredFlags.ts"
import { ProviderLines } from "../../../plane/ProviderLines.ts"
import type { Commitment } from "../../../plane/ledger/Commitment.ts"
import { KeyLimits } from "../../../plane/ledger/KeyLimits.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { Timers } from "../../../platform/Timers.ts"
import * as Catalog from "../../../plane/providers/Catalog.ts"
import { batchesFolder } from "../../../store/DataFolder.ts"
import type { StoreError } from "../../../store/Errors.ts"
import type { Endpoint } from "../Endpoints.ts"
import { eachLine, Unworkable } from "../InputLines.ts"
import { LineAsker } from "../LineAsker.ts"
import type { Counts, LineSpool } from "../LineSpool.ts"
import { clientOf, type ProviderClient, ProviderFailed } from "./Client.ts"
import { type Plan, planFor } from "./Planning.ts"
import { type ProviderEnd, Results } from "./Results.ts"
import type { RemoteBatch } from "./Shapes.ts"

/** A batch that is worked on. */
export interface HandedBatch {
  readonly batch: () => Batch
  /** Changes the batch, and waits until it is stored. */
  readonly save: (change: (batch: Batch) => Batch) => Effect.Effect<void>
  readonly spool: LineSpool
  /** Receives the number of lines that the provider is done with. */
  readonly told: (counts: Counts) => void
}

export class ProviderBatches extends Context.Tag("gateway/subjects/batches/provider/ProviderBatches")<
  ProviderBatches,
  {
    /** Runs it to its end, from its present state; null: the gateway has to ask the lines itself. */
    readonly run: (
      handed: HandedBatch,
      endpoint: Endpoint
    ) => Effect.Effect<ProviderEnd | null, StoreError | Unworkable>
    /** Ends it at the provider, and brings back what was answered until then. Never fails: what goes wrong is logged. */
    readonly cancel: (handed: HandedBatch, endpoint: Endpoint) => Effect.Effect<void>
  }
>() {}

/** Calls that fail for a reason that may pass are made again so often. */
const tries = 5
const again = Schedule.jittered(Schedule.exponential("1 second"))
const sometimes = <A, E, R>(call: Effect.Effect<A, E | ProviderFailed, R>) =>
  Effect.retry(call, {
    schedule: Schedule.intersect(again, Schedule.recurs(tries - 1)),
    while: (error) => error instanceof ProviderFailed && error.isPassing
  })

/** Times in ms between two polls of a batch: from the first to the second, each longer than the one before. */
const firstPauseMs = 1_000
const longestPauseMs = 60_000
const pauseGrowth = 1.5
/** Refusals in a row after which a batch is taken for lost. */
const mostRefusals = 10
/** A provider takes its time to cancel: https://platform.openai.com/docs/api-reference/batch/cancel */
const cancelWithin = "15 minutes"

const atProvider = (batch: Batch, change: Partial<ProviderBatch>): Batch =>
  batch.provider === null ? batch : { ...batch, provider: { ...batch.provider, ...change } }

const lost = (message: string): Effect.Effect<never, Unworkable> =>
  Effect.fail(new Unworkable("provider_batch_lost", message))

/** State of a batch at the provider. */
interface Begun {
  readonly account: Catalog.Account
  readonly client: ProviderClient
  readonly remote: RemoteBatch
  readonly commitment: Commitment | null
}

const services = Effect.all({
  asker: LineAsker,
  catalog: Catalog.Catalog,
  config: AppConfig,
  files: Files,
  keys: ApiKeys,
  limits: KeyLimits,
  lines: ProviderLines,
  results: Results,
  settings: GatewaySettings,
  timers: Timers,
  upstream: Upstream
})
type Services = Effect.Effect.Success<typeof services>

const rest = ({ timers }: Services) => Effect.async<void>((resume) => timers.soon(() => resume(Effect.void)))

const plan = (
  services: Services,
  handed: HandedBatch,
  endpoint: Endpoint,
  path: string | null,
  connectionId: string | null
) =>
  planFor(
    {
      files: services.files,
      keys: services.keys,
      limits: services.limits,
      lines: services.lines,
      rest: rest(services),
      hasBatches: (account) => clientOf(services.upstream, account) !== null
    },
    { batch: handed.batch(), endpoint, spool: handed.spool, path, connectionId }
  )

/** Lines over a limit are asked in the ordinary way, which refuses them, and says so in its own words. */
const askBeyond = (services: Services, { batch, spool }: HandedBatch, endpoint: Endpoint, { beyond }: Plan) =>
  beyond.size === 0
    ? Effect.void
    : eachLine(services.files, batch(), rest(services), (number, line) =>
        line._tag === "Broken" || !beyond.has(number)
          ? Effect.void
          : Effect.flatMap(
              services.asker.ask(batch(), endpoint, { number, customId: line.customId, body: line.body }),
              spool.append
            )
      )

/** Creates a batch of an uploaded file, once: where it is not known whether the provider has done so, it is asked first. */
const createOnce = (client: ProviderClient, fileId: string, endpoint: Endpoint, id: string, isKnownToBeNew: boolean) =>
  Effect.suspend(() => {
    let isNew = isKnownToBeNew
    const before = Effect.suspend(() => (isNew ? Effect.succeed(null) : client.find(fileId)))
    return sometimes(
      Effect.flatMap(before, (found) => {
        isNew = false
        return found === null ? client.create(fileId, endpoint.path, id) : Effect.succeed(found)
      })
    )
  })

/** Null: the provider has taken nothing. */
const handOver = (
  services: Services,
  handed: HandedBatch,
  endpoint: Endpoint
): Effect.Effect<Begun | null, StoreError | Unworkable> =>
  Effect.gen(function* () {
    const path = join(batchesFolder(services.config.dataDir), `${handed.batch().id}.upload.part`)
    const planned = yield* plan(services, handed, endpoint, path, null)
    const client = planned === null ? null : clientOf(services.upstream, planned.account)
    if (planned === null || client === null) return null
    const { account, commitment } = planned
    const { id } = handed.batch()
    const connectionId = account.connection.id
    yield* handed.save((batch) => ({
      ...batch,
      provider: { connectionId, kind: "openai", id: null, fileId: null, prices: planned.prices }
    }))
    const given = Effect.gen(function* () {
      const fileId = yield* sometimes(client.upload(path, `gateway-${id}`))
      yield* handed.save((batch) => atProvider(batch, { fileId }))
      const remote = yield* createOnce(client, fileId, endpoint, id, true)
      yield* handed.save((batch) => atProvider(batch, { id: remote.id }))
      return { account, client, remote, commitment } satisfies Begun
    }).pipe(Effect.onError(() => Effect.sync(() => commitment?.leave())))
    const begun = yield* Effect.either(given)
    if (Either.isRight(begun)) {
      yield* askBeyond(services, handed, endpoint, planned)
      return begun.right
    }
    const error = begun.left
    if (!(error instanceof ProviderFailed)) return yield* error
    const { provider } = handed.batch()
    if (provider?.fileId != null) {
      // After a failure that says nothing it may have been made all the same.
      const found = error.isPassing ? yield* Effect.either(sometimes(client.find(provider.fileId))) : null
      if (found !== null && (Either.isLeft(found) || found.right !== null)) return yield* lost(error.message)
      yield* Effect.ignore(client.remove(provider.fileId))
    }
    yield* handed.save((batch) => ({ ...batch, provider: null }))
    yield* Effect.logWarning(
      `${account.spec.name} has not taken the batch ${id}; its lines are asked one by one: ${error.message}`
    )
    return null
  }).pipe(Effect.scoped)

/** The batch at the provider that the gateway knew of when it ended. */
const resumed = (
  services: Services,
  handed: HandedBatch,
  endpoint: Endpoint,
  { connectionId, fileId, id }: ProviderBatch
): Effect.Effect<Begun | null, StoreError | Unworkable> =>
  Effect.gen(function* () {
    const account = services.catalog.current().byConnection.get(connectionId)
    const client = account === undefined ? null : clientOf(services.upstream, account)
    if (account === undefined || client === null) {
      const message = "The connection whose provider had the batch was removed or has no batches any more."
      return fileId === null ? null : yield* lost(message)
    }
    if (fileId === null) return null
    const planned = yield* Effect.scoped(plan(services, handed, endpoint, null, connectionId))
    const known =
      id === null
        ? Effect.map(createOnce(client, fileId, endpoint, handed.batch().id, false), (made) => made.id)
        : Effect.succeed(id)
    const remote = yield* known.pipe(
      Effect.tap((found) => handed.save((batch) => atProvider(batch, { id: found }))),
      Effect.flatMap((found) => ended(client, found, handed)),
      Effect.catchTag("ProviderFailed", ({ message }) => lost(message)),
      Effect.onError(() => Effect.sync(() => planned?.commitment?.leave()))
    )
    return { account, client, remote, commitment: planned?.commitment ?? null }
  })

/** Waits for the end of a batch. */
const ended = (client: ProviderClient, id: string, handed: HandedBatch): Effect.Effect<RemoteBatch, Unworkable> =>
  Effect.gen(function* () {
    let refusals = 0
    for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * pauseGrowth, longestPauseMs)) {
      yield* Effect.sleep(pauseMs)
      const found = yield* Effect.either(client.get(id))
      if (Either.isRight(found)) {
        refusals = 0
        handed.told(found.right)
        if (found.right.over !== null) return found.right
      } else if (!found.left.isPassing) {
        refusals += 1
        if (refusals >= mostRefusals) return yield* lost(found.left.message)
      }
    }
  })

const collected = ({ results }: Services, handed: HandedBatch, endpoint: Endpoint, begun: Begun, isWhole: boolean) =>
  Effect.gen(function* () {
    const { account, client, commitment, remote } = begun
    const { batch, spool } = handed
    const end = yield* results.collect({
      batch: batch(),
      spool,
      endpoint,
      account,
      remote,
      isWhole,
      commitment,
      download: (fileId, path) =>
        sometimes(client.download(fileId, path)).pipe(
          Effect.catchTag("ProviderFailed", ({ message }) =>
            Effect.fail(new Unworkable("provider_results_lost", message))
          )
        )
    })
    // Its files are of no use any more.
    for (const fileId of [batch().provider?.fileId ?? null, remote.outputFileId, remote.errorFileId]) {
      if (fileId !== null) yield* Effect.ignore(client.remove(fileId))
    }
    return end
  })

const run = Effect.fn("ProviderBatches.run")(function* (services: Services, handed: HandedBatch, endpoint: Endpoint) {
  const { provider, total } = handed.batch()
  const { completed, failed } = handed.spool.counts()
  if (provider !== null && completed + failed >= total) return { ending: "completed", problems: [] } as const
  const known = provider === null ? null : yield* resumed(services, handed, endpoint, provider)
  if (known === null && provider === null && !services.settings.current().batches.useProviderBatch) return null
  const begun = known ?? (yield* handOver(services, handed, endpoint))
  if (begun === null) return null
  const remote =
    begun.remote.over === null
      ? yield* ended(begun.client, begun.remote.id, handed).pipe(
          Effect.onError(() => Effect.sync(() => begun.commitment?.leave()))
        )
      : begun.remote
  return yield* collected(services, handed, endpoint, { ...begun, remote }, true)
})

const cancel = Effect.fn("ProviderBatches.cancel")(function* (
  services: Services,
  handed: HandedBatch,
  endpoint: Endpoint
) {
  const { id: batchId, provider } = handed.batch()
  const account = provider === null ? undefined : services.catalog.current().byConnection.get(provider.connectionId)
  const client = account === undefined ? null : clientOf(services.upstream, account)
  if (provider?.fileId == null || account === undefined || client === null) return
  yield* Effect.gen(function* () {
    const { fileId } = provider
    const id = provider.id ?? (fileId === null ? null : ((yield* sometimes(client.find(fileId)))?.id ?? null))
    if (id === null) return
    // One that is over cannot be cancelled any more; its results are wanted all the same.
    yield* Effect.ignore(sometimes(client.cancel(id)))
    const remote = yield* ended(client, id, handed)
    yield* collected(services, handed, endpoint, { account, client, remote, commitment: null }, false)
  }).pipe(
    Effect.timeout(cancelWithin),
    Effect.catchAll((error) => {
      const reason = error._tag === "Unworkable" ? error.problem.message : error.message
      return Effect.logWarning(`The batch ${batchId} could not be ended at ${account.spec.name}: ${reason}`)
    })
  )
})

export const make = Effect.gen(function* () {
  const all = yield* services

  return ProviderBatches.of({
    run: (handed, endpoint) => run(all, handed, endpoint),
    cancel: (handed, endpoint) => cancel(all, handed, endpoint)
  })
})

export const layer: Layer.Layer<
  ProviderBatches,
  never,
  | ApiKeys
  | AppConfig
  | Catalog.Catalog
  | Files
  | GatewaySettings
  | KeyLimits
  | LineAsker
  | ProviderLines
  | Results
  | Timers
  | Upstream
> = Layer.effect(ProviderBatches, make)
