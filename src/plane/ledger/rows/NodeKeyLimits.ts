/**
 * Layer of `KeyLimits` for a node, one of several gateways on a database of Postgres: requests are let in by leases of rows that all nodes share, and
 * management is that of one process. The file of reservations keeps a request until the rows know what it has cost, so that a node that was killed
 * tells it when it is back.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { forAtMost } from "../../../kernel/time/AtMost.ts"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { IdGen } from "../../../platform/IdGen.ts"
import { Timers } from "../../../platform/Timers.ts"
import { reasonOf, StoreError } from "../../../store/Errors.ts"
import { listed } from "../../../store/engine/Engine.ts"
import { connect, usualOptions } from "../../../store/engine/postgres/Client.ts"
import { nodeNameIn } from "../../../store/nodes/NodeName.ts"
import type { OpenRequest } from "../../../store/usage/ReservationLines.ts"
import { Reservations } from "../../../store/usage/Reservations.ts"
import { MediaJobRepo } from "../../../subjects/mediaJobs/repo.ts"
import { KeyLimits, layerOwner } from "../KeyLimits.ts"
import { lostOf } from "../leased/WorkerLeases.ts"
import { WorkerLedger } from "../leased/WorkerLedger.ts"
import { type Booked, LedgerTruth } from "../LedgerTruth.ts"
import * as PostgresRows from "./PostgresRows.ts"
import { RowsLink } from "./RowsLink.ts"

/** One connection is for turns, the other for what looks after leases. */
const connections = 2
/** Time for what is held to go back when the node ends. */
const endTimeout = "2 seconds"

interface Row {
  readonly id: string
  readonly apiKeyId: string | null
  readonly timestampMs: number
  readonly provider: string | null
  readonly model: string | null
  readonly costNanoUsd: number
  readonly tokens: number
}

const bookedOf = ({ costNanoUsd, id, model, provider, timestampMs, tokens }: Row, apiKeyId: string): Booked => ({
  requestId: id,
  apiKeyId,
  receivedMs: timestampMs,
  isCounted: true,
  charges: provider === null || model === null ? [] : [{ provider, model, nanoUsd: costNanoUsd, tokens }]
})

/** Costs of requests that an earlier life of the node left: by their row, or as estimated. One that goes on reserves anew. */
const leftBy = Effect.fnUntraced(function* (open: ReadonlyArray<OpenRequest>) {
  const sql = yield* SqlClient.SqlClient
  const jobs = yield* MediaJobRepo
  const running = new Set((yield* jobs.open).flatMap(({ requestId, ticket }) => (ticket === null ? [] : [requestId])))
  const ids = open.map(({ requestId }) => requestId)
  const rows =
    yield* sql<Row>`SELECT id, api_key_id, timestamp_ms, provider, model, cost_nano_usd, tokens_in + tokens_out AS tokens
    FROM usage_log WHERE id IN (${listed(sql, ids)})`
  const byId = new Map(rows.map((row) => [row.id, row]))
  return open.flatMap((request) => {
    const row = byId.get(request.requestId)
    if (row !== undefined) return [bookedOf(row, request.apiKeyId)]
    return running.has(request.requestId) ? [] : [lostOf(request)]
  })
})

const make = Effect.gen(function* () {
  const owner = yield* KeyLimits
  const truth = yield* LedgerTruth
  const file = yield* Reservations
  const { databaseUrl, dataDir } = yield* AppConfig
  const ids = yield* IdGen
  const { after, monotonicMs, nowMs, soon } = yield* Timers
  if (databaseUrl === null) return Context.make(KeyLimits, owner).pipe(Context.add(Reservations, file))
  const node = yield* nodeNameIn(dataDir, ids.next(yield* Clock.currentTimeMillis))
  const sql = yield* connect({ ...usualOptions, url: databaseUrl, maxConnections: connections })
  const rows = yield* PostgresRows.make(sql)
  const left = yield* leftBy(file.leftovers.open)
  const untold = new Set(left.map(({ requestId }) => requestId))
  const runFork = Effect.runFork
  const forgetLeft = (): void => void runFork(file.leftovers.forget)
  const acknowledged = (requestIds: ReadonlyArray<string>): void => {
    if (untold.size === 0) return
    for (const id of requestIds) if (untold.delete(id) && untold.size === 0) forgetLeft()
  }
  const newHolder = (): string => ids.next(nowMs())
  const link = new RowsLink({
    node,
    rows,
    truth,
    newHolder,
    nowMs,
    monotonicMs,
    after,
    soon,
    acknowledged
  })
  const ledger = new WorkerLedger({
    link: link.service,
    moved: null,
    nowMs,
    monotonicMs,
    after
  })
  link.settleLeft(left)
  if (untold.size === 0) forgetLeft()
  yield* Effect.addFinalizer(() =>
    Effect.sync(() => ledger.close()).pipe(
      Effect.zipRight(forAtMost(endTimeout)(Effect.async<void>((resume) => link.end(() => resume(Effect.void))))),
      Effect.zipRight(Effect.sync(() => link.close()))
    )
  )
  const limits = KeyLimits.of({
    ...owner,
    admit: (key, request) => ledger.admit(key, request),
    pauseMs: (key) => ledger.pauseMs(key),
    refuse: (_, obstacle) => ledger.refuse(obstacle),
    settle: (commitment, charges) => {
      const { apiKeyId, receivedMs, requestId } = commitment
      truth.note({ requestId, apiKeyId, receivedMs, charges, isCounted: false })
      commitment.settle(charges)
    },
    mayCount: (apiKeyId) => owner.mayCount(apiKeyId) || ledger.mayCount(apiKeyId),
    book: (booked) => {
      truth.note(booked)
      ledger.book(booked)
    },
    commitments: (apiKeyId) => ledger.commitments(apiKeyId)
  })
  const reservations = Reservations.of({
    ...file,
    close: (filed) => {
      if (!link.whenTold(filed.requestId, () => file.close(filed))) file.close(filed)
    }
  })
  return Context.make(KeyLimits, limits).pipe(Context.add(Reservations, reservations))
}).pipe(
  Effect.catchTag("SqlError", (error) =>
    Effect.fail(new StoreError({ operation: "The limits of nodes", cause: new Error(reasonOf(error)) }))
  )
)

/** Files that an ended process left are forgotten when the rows know it, and not before. */
const ownerLayer = Layer.unwrapEffect(
  Effect.map(Reservations, (file) => {
    const kept = Reservations.of({ ...file, leftovers: { ...file.leftovers, forget: Effect.void } })
    return layerOwner.pipe(Layer.provide(Layer.succeed(Reservations, kept)))
  })
)

/** Layer over the file of reservations of the data folder, which it takes the place of. */
export const layer = Layer.scopedContext(make).pipe(Layer.provide(ownerLayer))
