/** Teams whose keys requests were of. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

export class ContentRepo extends Context.Tag("gateway/subjects/teams/ContentRepo")<
  ContentRepo,
  {
    /** Id of the team that the key of a request belonged to when it came; null: there is no such request, or it is of none. */
    readonly teamOf: (requestId: string) => Effect.Effect<string | null, StoreError>
  }
>() {}

export const make = Effect.map(SqlClient.SqlClient, (sql) =>
  ContentRepo.of({
    teamOf: Effect.fn("ContentRepo.teamOf")((requestId: string) =>
      sql<{ readonly teamId: string | null }>`SELECT o.team_id FROM usage_log AS u
        JOIN key_owners AS o ON o.api_key_id = u.api_key_id AND o.from_ms <= u.timestamp_ms
          AND (o.until_ms IS NULL OR u.timestamp_ms < o.until_ms)
        WHERE u.request_id = ${requestId} ORDER BY o.from_ms DESC, o.seq DESC LIMIT 1`.pipe(
        Effect.mapBoth({
          onFailure: Table.named("ContentRepo.teamOf"),
          onSuccess: ([row]) => row?.teamId ?? null
        })
      )
    )
  })
)

export const layer: Layer.Layer<ContentRepo, never, SqlClient.SqlClient> = Layer.effect(ContentRepo, make)
