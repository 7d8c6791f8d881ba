/** Rows that name a person besides the person's own: those of the audit log, and the sums of what the person's keys have used. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

export interface AuditedAct {
  readonly id: string
  readonly timestampMs: number
  readonly action: string
  readonly target: string | null
  readonly ip: string
}

export class ErasureRepo extends Context.Tag("gateway/subjects/users/ErasureRepo")<
  ErasureRepo,
  {
    /** Rows of the audit log that a person made, newest first. */
    readonly acts: (userId: string, most: number) => Effect.Effect<ReadonlyArray<AuditedAct>, StoreError>
    /** Puts another name in the place of the person's in the audit log; gives the number of rows. */
    readonly rename: (userId: string, name: string) => Effect.Effect<number, StoreError>
  }
>() {}

export const make = Effect.map(SqlClient.SqlClient, (sql) =>
  ErasureRepo.of({
    acts: Effect.fn("ErasureRepo.acts")((userId: string, most: number) =>
      sql<AuditedAct>`SELECT id, timestamp_ms, action, target, ip FROM audit_log
        WHERE details ->> 'userId' = ${userId} ORDER BY seq DESC LIMIT ${most}`.pipe(
        Effect.mapBoth({
          onFailure: Table.named("ErasureRepo.acts"),
          onSuccess: (rows) => rows.map((row) => ({ ...row, timestampMs: Number(row.timestampMs) }))
        })
      )
    ),
    rename: Effect.fn("ErasureRepo.rename")((userId: string, name: string) =>
      sql`UPDATE audit_log SET details = json_set(details, '$.userName', ${name}) WHERE details ->> 'userId' = ${userId}
        RETURNING 1`.pipe(
        Effect.mapBoth({ onFailure: Table.named("ErasureRepo.rename"), onSuccess: (rows) => rows.length })
      )
    )
  })
)

export const layer: Layer.Layer<ErasureRepo, never, SqlClient.SqlClient> = Layer.effect(ErasureRepo, make)
