/** Jobs that make videos and music. */
import { exactOptional } from "../../kernel/Documented.ts"
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { OnFile } from "../../contract/domain/ContentPermission.ts"
import { knownCallers } from "../../contract/domain/Usage.ts"
import { type JobKind, jobKinds, type MediaJob, mediaJobStatuses } from "./entity.ts"
import { ModelPrice } from "../pricing/entity.ts"
import { Json, MaybeText, MaybeWhole, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

const AnyObject = Schema.Record({ key: Text, value: Schema.Unknown })
const Request = Schema.Struct({
  method: Schema.Literal("GET", "POST", "PUT", "DELETE"),
  url: Text,
  body: exactOptional(AnyObject)
})
const Ticket = Schema.Struct({
  id: Text,
  poll: Request,
  cancel: Schema.NullOr(Request),
  price: exactOptional(Schema.NullOr(ModelPrice))
})
const Output = Schema.Struct({ url: exactOptional(Text), b64_json: exactOptional(Text), content: exactOptional(Text) })
const Problem = Schema.Struct({ message: Text, type: MaybeText, code: MaybeText })

const Row = Schema.Struct({
  id: Text,
  owner: Text,
  caller: Schema.NullOr(Schema.Literal(...knownCallers)),
  kind: Schema.Literal(...jobKinds),
  requestId: Text,
  model: Text,
  request: Schema.NullOr(Json(AnyObject)),
  status: Schema.Literal(...mediaJobStatuses),
  progress: MaybeWhole,
  provider: MaybeText,
  connectionId: MaybeText,
  providerModel: MaybeText,
  ticket: Schema.NullOr(Json(Ticket)),
  outputs: Schema.NullOr(Json(Schema.Array(Output))),
  seconds: MaybeText,
  problem: Schema.NullOr(Json(Problem)),
  createdAtMs: Whole,
  submittedAtMs: MaybeWhole,
  endedAtMs: MaybeWhole,
  expiresAtMs: MaybeWhole
})

export interface MediaJobPage {
  readonly owner: string
  readonly kind: JobKind
  /** The page begins behind this id. */
  readonly after: string | null
  readonly order: "asc" | "desc"
  readonly limit: number
}

export class MediaJobRepo extends Context.Tag("gateway/subjects/mediaJobs/MediaJobRepo")<
  MediaJobRepo,
  {
    readonly insert: (job: OnFile<MediaJob>) => Effect.Effect<void, StoreError>
    /** Replaces the row of its id; false when it was removed. */
    readonly save: (job: OnFile<MediaJob>) => Effect.Effect<boolean, StoreError>
    /** Null also for what has expired. */
    readonly find: (
      owner: string,
      kind: JobKind,
      id: string,
      nowMs: number
    ) => Effect.Effect<MediaJob | null, StoreError>
    readonly page: (page: MediaJobPage, nowMs: number) => Effect.Effect<ReadonlyArray<MediaJob>, StoreError>
    /** All that are not over, oldest first. */
    readonly open: Effect.Effect<ReadonlyArray<MediaJob>, StoreError>
    readonly remove: (owner: string, id: string) => Effect.Effect<boolean, StoreError>
    readonly removeExpired: (nowMs: number) => Effect.Effect<void, StoreError>
  }
>() {}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "media_jobs", Row)
  // The condition of the partial index, word for word.
  const isOpen = sql.literal("status IN ('queued', 'in_progress')")
  const alive = (nowMs: number) => sql`(expires_at_ms IS NULL OR expires_at_ms > ${nowMs})`
  const stored = <A, E>(operation: string, writing: Effect.Effect<A, E | StoreError>) =>
    Effect.mapError(writing, Table.named(operation))

  return MediaJobRepo.of({
    insert: ({ row: job }) => stored("MediaJobRepo.insert", table.insert("MediaJobRepo.insert", job)),
    save: ({ row: job }) => stored("MediaJobRepo.save", table.update("MediaJobRepo.save", sql`id = ${job.id}`, job)),
    find: (owner, kind, id, nowMs) =>
      table.first(
        "MediaJobRepo.find",
        sql`WHERE id = ${id} AND owner = ${owner} AND kind = ${kind} AND ${alive(nowMs)}`
      ),
    page: ({ after, kind, limit, order, owner }, nowMs) => {
      const behind = after === null ? sql`` : order === "asc" ? sql`AND id > ${after}` : sql`AND id < ${after}`
      const direction = sql.literal(order === "asc" ? "ASC" : "DESC")
      return table.select(
        "MediaJobRepo.page",
        sql`WHERE owner = ${owner} AND kind = ${kind} AND ${alive(nowMs)} ${behind} ORDER BY id ${direction} LIMIT ${limit}`
      )
    },
    open: table.select("MediaJobRepo.open", sql`WHERE ${isOpen} ORDER BY id`),
    remove: (owner, id) => table.remove("MediaJobRepo.remove", sql`id = ${id} AND owner = ${owner}`),
    removeExpired: (nowMs) =>
      Effect.asVoid(
        table.remove("MediaJobRepo.removeExpired", sql`expires_at_ms IS NOT NULL AND expires_at_ms <= ${nowMs}`)
      )
  })
})

export const layer: Layer.Layer<MediaJobRepo, never, SqlClient.SqlClient> = Layer.effect(MediaJobRepo, make)
