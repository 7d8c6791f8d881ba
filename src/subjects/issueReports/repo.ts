/** Tracker that issues are reported to: one row. The token is encrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { MaybeText, Text } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { sealedColumn, SecretText } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Table from "../../store/engine/Table.ts"

export interface IssueTracker {
  /** `owner/name`; null: none. */
  readonly repository: string | null
  /** Address of the tracker's API, without a slash at the end. */
  readonly apiUrl: string
  readonly token: Redacted.Redacted | null
}

export const defaultApiUrl = "https://api.github.com"

export class IssueTrackerRepo extends Context.Tag("gateway/subjects/issueReports/IssueTrackerRepo")<
  IssueTrackerRepo,
  {
    readonly get: Effect.Effect<IssueTracker, StoreError>
    readonly set: (tracker: IssueTracker) => Effect.Effect<void, StoreError>
  }
>() {}

const rowId = "tracker"

const Row = Schema.Struct({ id: Text, repository: MaybeText, apiUrl: Text, token: MaybeText })

const initial: IssueTracker = { repository: null, apiUrl: defaultApiUrl, token: null }

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "issue_tracker", Row)
  const token = sealedColumn(yield* Secrets, "issue_tracker", "token", SecretText)
  const stored = table.first("IssueTrackerRepo.get", sql`WHERE id = ${rowId}`)

  return IssueTrackerRepo.of({
    get: Effect.map(stored, (row) =>
      row === null
        ? initial
        : { repository: row.repository, apiUrl: row.apiUrl, token: token.open(rowId, row.token).value }
    ),
    set: Effect.fn("IssueTrackerRepo.set")(function* (tracker: IssueTracker) {
      const before = yield* stored
      const row = { ...tracker, id: rowId, token: token.reseal(rowId, tracker.token, before?.token ?? null) }
      if (before === null) yield* Effect.orDie(table.insert("IssueTrackerRepo.set", row))
      else yield* Effect.orDie(table.update("IssueTrackerRepo.set", sql`id = ${rowId}`, row))
    })
  })
})

export const layer: Layer.Layer<IssueTrackerRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(
  IssueTrackerRepo,
  make
)
