/** Brings back what a provider has made of the lines of a batch: usage rows, what they cost of the limits of their key, and the lines' results. */
import { makeLane } from "../../../kernel/Lane.ts"
import type { ModelPrice } from "../../pricing/entity.ts"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { open, rm } from "node:fs/promises"
import { join } from "node:path"
import { ApiKeys } from "../../auth/ApiKeys.ts"
import type { Batch, BatchEnd, BatchProblem } from "../entity.ts"
import { Files } from "../../files/service.ts"
import { type LineBounds, lineBounds } from "../../../plane/settle/Seen.ts"
import { settled } from "../../../kernel/Later.ts"
import { scrub } from "../../../kernel/secrets/Scrub.ts"
import type { Charge, Commitment } from "../../../plane/ledger/Commitment.ts"
import { KeyLimits } from "../../../plane/ledger/KeyLimits.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { Timers } from "../../../platform/Timers.ts"
import { type Account, secretsOf } from "../../../plane/providers/Catalog.ts"
import { Resolutions } from "../../../plane/routing/resolve/Resolutions.ts"
import { batchesFolder } from "../../../store/DataFolder.ts"
import { StoreError } from "../../../store/Errors.ts"
import { UsageJournal } from "../../../store/usage/UsageJournal.ts"
import { batchPrice } from "../../../observe/usage/BatchPrice.ts"
import { PriceBook } from "../../../observe/usage/PriceBook.ts"
import { stringOr } from "../../../wire/json/Json.ts"
import { answeredLine, expired, failedLine, type LineProblem, type LineResult } from "../BatchLines.ts"
import type { Endpoint } from "../Endpoints.ts"
import { eachLine, type Unworkable } from "../InputLines.ts"
import { LineReader } from "../LineReader.ts"
import type { LineSpool } from "../LineSpool.ts"
import { resultRow } from "./ResultRow.ts"
import { type RemoteBatch, type RemoteResult, remoteResultOf } from "./Shapes.ts"

export interface ProviderEnd {
  readonly ending: BatchEnd
  readonly problems: ReadonlyArray<BatchProblem>
}

export interface Collecting {
  readonly batch: Batch
  readonly spool: LineSpool
  readonly endpoint: Endpoint
  readonly account: Account
  /** Provider's batch, which is over. */
  readonly remote: RemoteBatch
  /** Lines of which the provider says nothing fail; false: they stay as if they had not been asked. */
  readonly isWhole: boolean
  /** Reservation; null: there was none, or the process that made it has ended. */
  readonly commitment: Commitment | null
  readonly download: (fileId: string, path: string) => Effect.Effect<void, StoreError | Unworkable>
}

export class Results extends Context.Tag("gateway/subjects/batches/provider/Results")<
  Results,
  { readonly collect: (collecting: Collecting) => Effect.Effect<ProviderEnd, StoreError | Unworkable> }
>() {}

/** Returns the price at the time when the batch was handed over; null: it was not known then. */
const fixedPrice = ({ provider }: Batch, model: string): ModelPrice | null => {
  const prices = provider?.prices
  return prices !== undefined && Object.hasOwn(prices, model) ? (prices[model] ?? null) : null
}

/** Most bytes of a line of a provider's file. */
const maxLineBytes = 64 * 1_048_576
const turnLines = 64

/** Facts of a line from the input. */
interface InputLine {
  readonly customId: string
  readonly model: string
  readonly bounds: LineBounds
}

const noResult: LineProblem = {
  code: "provider_no_result",
  message: "The provider has ended the batch without a result for the line. Send it again in another batch.",
  param: null
}
const cancelledThere: LineProblem = {
  code: "provider_batch_cancelled",
  message: "The batch was cancelled at the provider before the line was answered.",
  param: null
}

const missing = ({ over }: RemoteBatch): LineProblem =>
  over === "expired" ? expired : over === "cancelled" ? cancelledThere : noResult

const onDisk = <A>(run: () => Promise<A>): Effect.Effect<A, StoreError> =>
  Effect.tryPromise({ try: run, catch: (cause) => new StoreError({ operation: "Results.read", cause }) })

const services = Effect.all({
  config: AppConfig,
  files: Files,
  journal: UsageJournal,
  keys: ApiKeys,
  limits: KeyLimits,
  prices: PriceBook,
  resolutions: Resolutions,
  timers: Timers
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly oneAtATime: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

const rest = ({ timers }: Deps) => Effect.async<void>((resume) => timers.soon(() => resume(Effect.void)))

/** The provider's name of a model that was asked for. */
const modelAt = ({ resolutions }: Deps, account: Account, requested: string): string => {
  const found = resolutions.requested(requested)
  const targets = "_tag" in found ? [] : found.targets
  return targets.find((target) => target.account.connection.id === account.connection.id)?.model ?? requested
}

const eachResult = (
  deps: Deps,
  path: string,
  each: (result: RemoteResult) => Effect.Effect<void, StoreError>
): Effect.Effect<void, StoreError> =>
  Effect.scoped(
    Effect.gen(function* () {
      const file = yield* Effect.acquireRelease(
        onDisk(() => open(path, "r")),
        (opened) => Effect.promise(() => opened.close())
      )
      const reader = new LineReader(file, maxLineBytes)
      for (let count = 1; ; count += 1) {
        const line = yield* onDisk(() => reader.next())
        if (line === null) return
        const result = line.bytes === null ? null : remoteResultOf(line.bytes)
        if (result !== null) yield* each(result)
        if (count % turnLines === 0) yield* rest(deps)
      }
    })
  )

/** A commitment that books what comes, whatever is left of the limits. */
const promised = (
  { keys, limits }: Deps,
  { createdAtMs, id, inProgressAtMs, owner }: Batch
): Effect.Effect<Commitment | null> => {
  const key = owner === "" ? null : keys.get(owner)
  if (key === null) return Effect.succeed(null)
  const receivedMs = inProgressAtMs ?? createdAtMs
  const asking = { requestId: id, receivedMs, sessionId: null, isCountedBefore: true, isPromised: true }
  return Effect.map(settled(limits.admit(key, asking)), (admitted) => (admitted instanceof Error ? null : admitted))
}

const batchPriceNow = ({ prices }: Deps, provider: string, model: string): ModelPrice | null => {
  const price = prices.price(provider, model)
  return price === null ? null : batchPrice(price)
}

const collect = (deps: Deps, collecting: Collecting): Effect.Effect<ProviderEnd, StoreError | Unworkable> =>
  collecting.commitment === null
    ? Effect.flatMap(promised(deps, collecting.batch), (commitment) => collectOn(deps, collecting, commitment))
    : collectOn(deps, collecting, collecting.commitment)

const collectOn = (
  deps: Deps,
  collecting: Collecting,
  commitment: Commitment | null
): Effect.Effect<ProviderEnd, StoreError | Unworkable> => {
  const { account, batch, download, endpoint, isWhole, remote, spool } = collecting
  const { connection, spec } = account
  const charges: Array<Charge> = []
  const asked = new Map<number, InputLine>()

  const resultOf = (result: RemoteResult, { bounds, customId, model: requestedModel }: InputLine): LineResult => {
    const { line } = result
    if (result._tag === "NotAsked") return failedLine(batch.id, line, customId, { ...result, param: null })
    const { body, status } = result
    const model = modelAt(deps, account, requestedModel)
    const price = fixedPrice(batch, model) ?? batchPriceNow(deps, spec.id, model)
    const row = resultRow({
      batch,
      line,
      endpoint,
      spec,
      connectionId: connection.id,
      requestedModel,
      model,
      price,
      status,
      body,
      bounds
    })
    deps.journal.append(row)
    const { costNanoUsd, tokens } = row
    charges.push({ provider: spec.id, model, nanoUsd: costNanoUsd, tokens: tokens.in + tokens.out })
    return answeredLine(batch.id, line, customId, { requestId: row.id, status, body: JSON.stringify(body) })
  }

  const take = (result: RemoteResult): Effect.Effect<void, StoreError> =>
    Effect.suspend(() => {
      const known = asked.get(result.line)
      return known === undefined || spool.has(result.line) ? Effect.void : spool.append(resultOf(result, known))
    })

  const settle = Effect.sync(() => {
    if (commitment === null) return
    deps.limits.settle(commitment, charges)
    commitment.leave()
  })

  return Effect.gen(function* () {
    yield* eachLine(deps.files, batch, rest(deps), (number, line) => {
      if (spool.has(number)) return Effect.void
      if (line._tag === "Broken") return spool.append(failedLine(batch.id, number, line.customId, line.problem))
      asked.set(number, {
        customId: line.customId,
        model: stringOr(line.body["model"]) ?? "",
        bounds: lineBounds(line.body)
      })
      return Effect.void
    })
    const path = join(batchesFolder(deps.config.dataDir), `${batch.id}.results.part`)
    for (const fileId of [remote.outputFileId, remote.errorFileId]) {
      if (fileId === null) continue
      yield* Effect.zipRight(download(fileId, path), eachResult(deps, path, take)).pipe(
        Effect.ensuring(Effect.promise(() => rm(path, { force: true })))
      )
    }
    if (remote.over === "failed") {
      const words = remote.problems.length === 0 ? ["It gives no reason."] : remote.problems
      const problems = words.map((message) => ({
        code: "provider_batch_failed",
        message: `${spec.name}: ${scrub(message.slice(0, 4_000), secretsOf(connection, spec)).slice(0, 500)}`,
        line: null,
        param: null
      }))
      return { ending: "failed", problems } satisfies ProviderEnd
    }
    if (isWhole) {
      for (const [number, { customId }] of asked) {
        if (!spool.has(number)) yield* spool.append(failedLine(batch.id, number, customId, missing(remote)))
      }
    }
    return { ending: remote.over === "expired" ? "expired" : "completed", problems: [] } satisfies ProviderEnd
  }).pipe(Effect.ensuring(settle), deps.oneAtATime)
}

export const make = Effect.gen(function* () {
  const all = yield* services
  // What the input says of the lines is in memory meanwhile.
  const oneAtATime = makeLane(1).inTurn
  const deps: Deps = { ...all, oneAtATime }

  return Results.of({ collect: (collecting) => collect(deps, collecting) })
})

export const layer: Layer.Layer<
  Results,
  never,
  ApiKeys | AppConfig | Files | KeyLimits | PriceBook | Resolutions | Timers | UsageJournal
> = Layer.effect(Results, make)
