/** What was used: the usage log, and the quotas of a connection. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Catalog } from "../providers/Catalog.ts"
import { type QuotaReport, QuotaWindows } from "../routing/quota/QuotaWindows.ts"
import type { StoreError } from "../store/Errors.ts"
import { UsageJournal } from "../store/UsageJournal.ts"
import { type UsageFilter, type UsagePage, UsageRepo } from "../store/repo/UsageRepo.ts"
import * as Errors from "./Errors.ts"

export class UsageReports extends Context.Tag("gateway/management/UsageReports")<
  UsageReports,
  {
    /** The newest rows first; `cursor` null begins with the newest, `limit` null gives fifty. */
    readonly page: (
      limit: number | null,
      cursor: string | null,
      filter?: UsageFilter
    ) => Effect.Effect<UsagePage, StoreError>
    /** Rows in the order they were written, from a position (`nextCursor` of the answer before) or, with null, from the end. */
    readonly written: (
      limit: number | null,
      after: string | null,
      filter?: UsageFilter
    ) => Effect.Effect<UsagePage, StoreError>
    readonly quotasOf: (connectionId: string) => Effect.Effect<QuotaReport, Errors.EntityNotFound>
  }
>() {}

const defaultLimit = 50

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const journal = yield* UsageJournal
  const repo = yield* UsageRepo
  const quotas = yield* QuotaWindows

  const quotasOf = Effect.fn("UsageReports.quotasOf")(function* (connectionId: string) {
    const connection = catalog.current().connections.find(({ id }) => id === connectionId)
    if (connection !== undefined) return quotas.report(connection, yield* Clock.currentTimeMillis)
    return yield* new Errors.EntityNotFound({ entity: "connection", id: connectionId, field: "connectionId" })
  })

  return UsageReports.of({
    page: (limit, cursor, filter = {}) =>
      Effect.zipRight(journal.catchUp, repo.page({ limit: limit ?? defaultLimit, cursor, filter })),
    written: (limit, after, filter = {}) =>
      Effect.zipRight(journal.catchUp, repo.written({ limit: limit ?? defaultLimit, after, filter })),
    quotasOf
  })
})

export const layer: Layer.Layer<UsageReports, never, Catalog | QuotaWindows | UsageJournal | UsageRepo> = Layer.effect(
  UsageReports,
  make
)
