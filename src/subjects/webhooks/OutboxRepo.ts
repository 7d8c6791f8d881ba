/**
 * Events that wait to be delivered to webhooks, and the last attempts. An event waits until a delivery of it was recorded: what a crash
 * interrupts is delivered again.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type Attempted, type DeliveryAttempt, everyEvent, maxFailures, type OutgoingEvent } from "./entity.ts"
import { Flag, MaybeText, MaybeWhole, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { withLateSync } from "../../store/engine/LateSync.ts"
import * as Table from "../../store/engine/Table.ts"
import type { Statement } from "../../store/usage/UsageHook.ts"

const WaitingRow = Schema.Struct({
  /** Rises in the order the events were written. */
  seq: Whole,
  webhookId: Text,
  eventId: Text,
  event: Text,
  atMs: Whole,
  /** JSON text. */
  data: Text,
  /** 1: it waits for the end of quiet hours; 0: it is sent at any hour; null: by the hour. */
  held: MaybeWhole
})
export type WaitingEvent = typeof WaitingRow.Type

const AttemptRow = Schema.Struct({
  id: Whole,
  webhookId: Text,
  eventId: Text,
  event: Text,
  attempt: Whole,
  status: Whole,
  success: Flag,
  error: MaybeText,
  latencyMs: Whole,
  atMs: Whole,
  data: MaybeText
})

export interface EventNames {
  readonly key: string | null
  readonly connection: string | null
}

/** An attempt, and what it means for the event. */
export interface RecordedAttempt extends Attempted {
  /** The event that is delivered, or given up, with this attempt; null when it is tried again, or was never in the outbox. */
  readonly endsSeq: number | null
}

export class OutboxRepo extends Context.Tag("gateway/subjects/webhooks/OutboxRepo")<
  OutboxRepo,
  {
    /** Adds, for each event, a row per enabled webhook that wants it. An event that is there already is skipped. */
    readonly add: (events: ReadonlyArray<OutgoingEvent>) => Effect.Effect<void, StoreError>
    /** The oldest events of a webhook after `afterSeq`, without those that wait for the end of quiet hours. */
    readonly page: (
      webhookId: string,
      afterSeq: number,
      limit: number
    ) => Effect.Effect<ReadonlyArray<WaitingEvent>, StoreError>
    /** Lets events wait for the end of quiet hours. */
    readonly hold: (seqs: ReadonlyArray<number>) => Effect.Effect<void, StoreError>
    /** The oldest events after `afterSeq` that wait for the end of quiet hours. */
    readonly heldPage: (
      webhookId: string,
      afterSeq: number,
      limit: number
    ) => Effect.Effect<ReadonlyArray<WaitingEvent>, StoreError>
    /** Puts one event in the place of those held up to `lastSeq`, in one step. False: none was there any more, and none is now. */
    readonly digest: (webhookId: string, lastSeq: number, digest: OutgoingEvent) => Effect.Effect<boolean, StoreError>
    /** Removes the oldest beyond `most`; gives how many. */
    readonly trim: (webhookId: string, most: number) => Effect.Effect<number, StoreError>
    /** Removes an event that another message has covered already. */
    readonly drop: (seq: number) => Effect.Effect<void, StoreError>
    /** Names of an API key and a connection; null where there is none of that id. */
    readonly names: (apiKeyId: string | null, connectionId: string | null) => Effect.Effect<EventNames, StoreError>
    readonly waiting: Effect.Effect<number, StoreError>
    /** All in one transaction; gives the ids of webhooks that were disabled by it. */
    readonly record: (attempts: ReadonlyArray<RecordedAttempt>) => Effect.Effect<ReadonlyArray<string>, StoreError>
    /** The last attempts of a webhook, newest first. */
    readonly attempts: (webhookId: string) => Effect.Effect<ReadonlyArray<DeliveryAttempt>, StoreError>
    /** Puts the event of an attempt that was given up back; its id stays. False: there is no such attempt, or none that can be. */
    readonly again: (webhookId: string, attemptId: number) => Effect.Effect<boolean, StoreError>
  }
>() {}

/** Attempts kept of a webhook. */
export const keptAttempts = 100

/** Names are shown as they are stored; an account of the environment has no row, so that its id stands for its name. */
const account = `COALESCE((SELECT name FROM connections WHERE id = e.data ->> 'accountId'), e.data ->> 'accountId')`

const addition = (only: string): string => `
  INSERT INTO webhook_outbox (webhook_id, event_id, event, at_ms, data)
  SELECT w.id, e.id, e.event, e.at_ms,
    CASE WHEN e.data ->> 'accountId' IS NULL THEN e.data ELSE json_set(e.data, '$.account', ${account}) END
  FROM (
    SELECT listed.id AS position, value ->> 'id' AS id, value ->> 'event' AS event, CAST(value ->> 'atMs' AS BIGINT) AS at_ms, value -> 'data' AS data
    FROM json_each(?) AS listed
  ) AS e CROSS JOIN webhooks AS w
  WHERE w.enabled = 1
    AND EXISTS (SELECT 1 FROM json_each(w.events) AS wanted WHERE wanted.value IN ('${everyEvent}', e.event)) ${only}
  ORDER BY e.position, w.created_at_ms
  ON CONFLICT DO NOTHING`

/** A report is told where the time zone is the one that it was made for. */
const addEvents = addition("AND (e.event NOT LIKE 'report.%' OR w.time_zone = e.data ->> 'time_zone')")
/** The event of a request was written with its usage row: where that is in the table, so was the event. */
const addRequestEvents = addition("AND NOT EXISTS (SELECT 1 FROM usage_log AS u WHERE u.id = e.id)")

const textOf = (events: ReadonlyArray<OutgoingEvent>): string =>
  JSON.stringify(events.map((event) => ({ ...event, atMs: Math.trunc(event.atMs) })))

/** Makes the statement of `add` for the transaction that inserts the usage rows whose ids the events have. */
export const addWithUsage = (events: ReadonlyArray<OutgoingEvent>): Statement => ({
  statement: addRequestEvents,
  parameters: [textOf(events)]
})

const insertAttempt = `
  INSERT INTO webhook_deliveries (webhook_id, event_id, event, attempt, status, success, error, latency_ms, at_ms)
  SELECT id, ?, ?, ?, ?, ?, ?, ?, ? FROM webhooks WHERE id = ?`
const insertDigest = `
  INSERT INTO webhook_outbox (webhook_id, event_id, event, at_ms, data, held) VALUES (?, ?, ?, ?, ?, 0) ON CONFLICT DO NOTHING`
/** The event that ends without success is kept with its last attempt, before it leaves the outbox. */
const insertLastAttempt = `
  INSERT INTO webhook_deliveries (webhook_id, event_id, event, attempt, status, success, error, latency_ms, at_ms, event_at_ms, data)
  SELECT w.id, ?, ?, ?, ?, ?, ?, ?, ?, o.at_ms, o.data
  FROM webhooks AS w LEFT JOIN webhook_outbox AS o ON o.seq = ? WHERE w.id = ?`
/** A person has asked for it: it is sent at any hour. */
const putBack = `
  INSERT INTO webhook_outbox (webhook_id, event_id, event, at_ms, data, held)
  SELECT webhook_id, event_id, event, event_at_ms, data, 0 FROM webhook_deliveries WHERE id = ? AND webhook_id = ? AND data IS NOT NULL
  ON CONFLICT DO NOTHING`
/** An event that was put back once is kept by the attempts that follow. */
const putBackOnce =
  "UPDATE webhook_deliveries SET data = NULL WHERE id = ? AND webhook_id = ? AND data IS NOT NULL RETURNING id"
const noteAttempt = "UPDATE webhooks SET last_triggered_at_ms = ?, last_status = ? WHERE id = ?"
const endEvent = "DELETE FROM webhook_outbox WHERE seq = ?"
const noteSuccess = "UPDATE webhooks SET failure_count = 0 WHERE id = ?"
const noteFailure = `
  UPDATE webhooks SET failure_count = failure_count + 1,
    enabled = CASE WHEN failure_count + 1 >= ${maxFailures} THEN 0 ELSE enabled END WHERE id = ?`
const trimAttempts = `
  DELETE FROM webhook_deliveries WHERE webhook_id = ? AND id <=
    (SELECT id FROM webhook_deliveries WHERE webhook_id = ? ORDER BY id DESC LIMIT 1 OFFSET ${keptAttempts})`

const statementsOf = (attempt: RecordedAttempt): ReadonlyArray<Statement> => {
  const { atMs, endsSeq, error, event, eventId, latencyMs, status, success, webhookId } = attempt
  const facts = [eventId, event, attempt.attempt, status, success ? 1 : 0, error]
  const row = [...facts, Math.trunc(latencyMs), Math.trunc(atMs)]
  const all: Array<Statement> = [
    success || endsSeq === null
      ? { statement: insertAttempt, parameters: [...row, webhookId] }
      : { statement: insertLastAttempt, parameters: [...row, endsSeq, webhookId] },
    { statement: noteAttempt, parameters: [Math.trunc(atMs), status, webhookId] }
  ]
  if (endsSeq === null) return all
  all.push({ statement: endEvent, parameters: [endsSeq] })
  all.push({ statement: success ? noteSuccess : noteFailure, parameters: [webhookId] })
  return all
}

/** Methods on events that wait for the end of quiet hours. */
const makeHeld = (
  sql: SqlClient.SqlClient,
  outbox: Table.Table<WaitingEvent>
): Pick<typeof OutboxRepo.Service, "hold" | "heldPage" | "digest"> => ({
  hold: Effect.fn("OutboxRepo.hold")((seqs: ReadonlyArray<number>) =>
    sql`UPDATE webhook_outbox SET held = 1 WHERE ${sql.in("seq", seqs)}`.pipe(
      Effect.asVoid,
      Effect.mapError(Table.named("OutboxRepo.hold"))
    )
  ),
  heldPage: Effect.fn("OutboxRepo.heldPage")((webhookId: string, afterSeq: number, limit: number) =>
    outbox.select(
      "OutboxRepo.heldPage",
      sql`WHERE webhook_id = ${webhookId} AND seq > ${afterSeq} AND held = 1 ORDER BY seq LIMIT ${limit}`
    )
  ),
  digest: Effect.fn("OutboxRepo.digest")((webhookId: string, lastSeq: number, made: OutgoingEvent) =>
    Effect.gen(function* () {
      const removed =
        yield* sql`DELETE FROM webhook_outbox WHERE webhook_id = ${webhookId} AND held = 1 AND seq <= ${lastSeq} RETURNING 1`
      if (removed.length === 0) return false
      const { atMs, data, event, id } = made
      yield* sql.unsafe(insertDigest, [webhookId, id, event, Math.trunc(atMs), JSON.stringify(data)])
      return true
    }).pipe(sql.withTransaction, Effect.mapError(Table.named("OutboxRepo.digest")))
  )
})

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const outbox = Table.make(sql, "webhook_outbox", WaitingRow)
  const deliveries = Table.make(sql, "webhook_deliveries", AttemptRow)

  const add = Effect.fn("OutboxRepo.add")((events: ReadonlyArray<OutgoingEvent>) =>
    withLateSync(sql, (connection) => connection.executeRaw(addEvents, [textOf(events)])).pipe(
      Effect.asVoid,
      Effect.mapError(Table.named("OutboxRepo.add"))
    )
  )

  const page = Effect.fn("OutboxRepo.page")((webhookId: string, afterSeq: number, limit: number) =>
    outbox.select(
      "OutboxRepo.page",
      sql`WHERE webhook_id = ${webhookId} AND seq > ${afterSeq} AND COALESCE(held, 0) <> 1 ORDER BY seq LIMIT ${limit}`
    )
  )

  const trim = Effect.fn("OutboxRepo.trim")((webhookId: string, most: number) =>
    sql`DELETE FROM webhook_outbox WHERE webhook_id = ${webhookId} AND seq <= (
      SELECT seq FROM webhook_outbox WHERE webhook_id = ${webhookId} ORDER BY seq DESC LIMIT 1 OFFSET ${most}) RETURNING 1`.pipe(
      Effect.mapBoth({ onFailure: Table.named("OutboxRepo.trim"), onSuccess: (removed) => removed.length })
    )
  )

  const drop = Effect.fn("OutboxRepo.drop")((seq: number) =>
    sql`DELETE FROM webhook_outbox WHERE seq = ${seq}`.pipe(
      Effect.asVoid,
      Effect.mapError(Table.named("OutboxRepo.drop"))
    )
  )

  const names = Effect.fn("OutboxRepo.names")((apiKeyId: string | null, connectionId: string | null) =>
    sql<EventNames>`SELECT (SELECT name FROM api_keys WHERE id = ${apiKeyId}) AS key,
      (SELECT name FROM connections WHERE id = ${connectionId}) AS connection`.pipe(
      Effect.mapBoth({
        onFailure: Table.named("OutboxRepo.names"),
        onSuccess: ([row]) => row ?? { key: null, connection: null }
      })
    )
  )

  const waiting = Effect.mapBoth(sql<{ readonly count: number }>`SELECT COUNT(*) AS count FROM webhook_outbox`, {
    onFailure: Table.named("OutboxRepo.waiting"),
    onSuccess: ([row]) => row?.count ?? 0
  })

  const record = Effect.fn("OutboxRepo.record")((attempts: ReadonlyArray<RecordedAttempt>) => {
    const ids = [...new Set(attempts.map(({ webhookId }) => webhookId))]
    const statements: ReadonlyArray<Statement> = [
      ...attempts.flatMap(statementsOf),
      ...ids.map((id) => ({ statement: trimAttempts, parameters: [id, id] }))
    ]
    return withLateSync(sql, (connection) => {
      const run = ({ parameters, statement }: Statement): Effect.Effect<unknown, SqlError> =>
        connection.executeRaw(statement, parameters)
      const plain = (statement: string) => run({ statement, parameters: [] })
      const work = Effect.zipRight(Effect.forEach(statements, run, { discard: true }), plain("COMMIT"))
      return plain("BEGIN IMMEDIATE").pipe(
        Effect.zipRight(Effect.tapErrorCause(work, () => Effect.ignore(plain("ROLLBACK"))))
      )
    }).pipe(
      Effect.uninterruptible,
      Effect.zipRight(sql<{ readonly id: string }>`SELECT id FROM webhooks WHERE enabled = 0 AND ${sql.in("id", ids)}`),
      Effect.mapBoth({ onFailure: Table.named("OutboxRepo.record"), onSuccess: (rows) => rows.map(({ id }) => id) })
    )
  })

  const attempts = Effect.fn("OutboxRepo.attempts")((webhookId: string) =>
    Effect.map(
      deliveries.select(
        "OutboxRepo.attempts",
        sql`WHERE webhook_id = ${webhookId} ORDER BY id DESC LIMIT ${keptAttempts}`
      ),
      (rows) => rows.map(({ data, ...attempt }) => ({ ...attempt, mayRetry: data !== null }))
    )
  )

  const again = Effect.fn("OutboxRepo.again")((webhookId: string, attemptId: number) =>
    sql
      .withTransaction(
        Effect.zipRight(
          sql.unsafe(putBack, [attemptId, webhookId]),
          sql.unsafe<{ readonly id: number }>(putBackOnce, [attemptId, webhookId])
        )
      )
      .pipe(
        Effect.mapBoth({
          onFailure: Table.named("OutboxRepo.again"),
          onSuccess: (rows) => rows.length > 0
        })
      )
  )
  return OutboxRepo.of({ add, page, ...makeHeld(sql, outbox), trim, drop, names, waiting, record, attempts, again })
})

export const layer: Layer.Layer<OutboxRepo, never, SqlClient.SqlClient> = Layer.effect(OutboxRepo, make)
