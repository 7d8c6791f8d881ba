/** Reports of usage: the usage log, and the quotas of a connection. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { Catalog } from "../../plane/providers/Catalog.ts"
import { type QuotaReport, QuotaWindows } from "../../plane/routing/quota/QuotaWindows.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import type { Connection } from "../connections/entity.ts"
import type { StoreError } from "../../store/Errors.ts"
import { UsageJournal } from "../../store/usage/UsageJournal.ts"
import { mostPerPage, pageInParts, type UsageFilter, type UsagePage, UsageRepo } from "./repo.ts"
import { UsageSearchRepo } from "./UsageSearchRepo.ts"
import { type FacetName, type Facets, FacetsRepo } from "./FacetsRepo.ts"
import { makeNames, makeRowFacts, type RowFacts } from "./RowFacts.ts"
import type { ReadRefused } from "../../store/engine/ReadWorker.ts"
import type { UsageRow } from "../../contract/domain/Usage.ts"
import * as Errors from "../Errors.ts"

/** Names for people of the values that are ids. */
export type FacetNames = (name: FacetName, value: string) => string | null

/** A page, and when the request of the last row arrived that was looked at for it; null: there are no others. */
export interface LookedAt extends UsagePage {
  readonly scannedToMs: number | null
}

export class UsageReports extends Context.Tag("gateway/subjects/usage/UsageReports")<
  UsageReports,
  {
    /** The newest rows first; `cursor` null begins with the newest, `limit` null gives fifty. */
    readonly page: (
      limit: number | null,
      cursor: string | null,
      filter?: UsageFilter
    ) => Effect.Effect<LookedAt, StoreError>
    /** Rows in the order they were written, from a position (`nextCursor` of the answer before) or, with null, from the end. */
    readonly written: (
      limit: number | null,
      after: string | null,
      filter?: UsageFilter
    ) => Effect.Effect<UsagePage, StoreError>
    /** Values of the fields that rows are filtered by, the most frequent first. */
    readonly facets: (
      filter: UsageFilter,
      most: number
    ) => Effect.Effect<{ readonly facets: Facets; readonly nameOf: FacetNames }, StoreError | ReadRefused>
    /** Finds what the answer says of rows besides what they hold. */
    readonly factsOf: (rows: ReadonlyArray<UsageRow>) => Effect.Effect<(row: UsageRow) => RowFacts, StoreError>
    /** The quotas of all connections, each read when it is asked for. */
    readonly quotas: (nowMs: number) => Iterable<{ readonly connection: Connection; readonly report: QuotaReport }>
    readonly quotasOf: (connectionId: string) => Effect.Effect<QuotaReport, Errors.EntityNotFound>
  }
>() {}

const defaultLimit = 50

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const journal = yield* UsageJournal
  const repo = yield* UsageRepo
  const search = yield* UsageSearchRepo
  const quotas = yield* QuotaWindows
  const { turn } = yield* Slices
  const facts = yield* makeRowFacts
  const names = yield* makeNames
  const values = yield* FacetsRepo

  const facets = Effect.fn("UsageReports.facets")(function* (filter: UsageFilter, most: number) {
    yield* journal.catchUp
    const found = yield* values.facets(filter, most)
    const idsOf = (name: FacetName) => found.values[name].map(({ value }) => value)
    const keyName = yield* names("key", idsOf("apiKeyId"))
    const connectionName = yield* names("connection", idsOf("connectionId"))
    const nameOf: FacetNames = (name, value) =>
      name === "apiKeyId" ? keyName(value) : name === "connectionId" ? connectionName(value) : null
    return { facets: found, nameOf }
  })

  const quotasOf = Effect.fn("UsageReports.quotasOf")(function* (connectionId: string) {
    const connection = catalog.current().connections.find(({ id }) => id === connectionId)
    if (connection !== undefined) return quotas.report(connection, yield* Clock.currentTimeMillis)
    return yield* new Errors.EntityNotFound({ entity: "connection", id: connectionId, field: "connectionId" })
  })

  /** The newest rows are looked at one by one; where too few of them match, the index of the filters has the rest. */
  const page = Effect.fn("UsageReports.page")(function* (limit: number, cursor: string | null, filter: UsageFilter) {
    yield* journal.catchUp
    const first = yield* pageInParts(repo, turn, { limit, cursor, filter })
    const missing = limit - first.rows.length
    if (missing <= 0 || first.nextCursor === null) return first
    return yield* search.before(first.nextCursor, missing, filter).pipe(
      Effect.map(({ nextCursor, rows }) => ({ rows: [...first.rows, ...rows], nextCursor })),
      // A busy thread: the caller goes on from where the look ended.
      Effect.catchTag("ReadRefused", () => Effect.succeed(first))
    )
  })

  return UsageReports.of({
    page: (limit, cursor, filter = {}) =>
      page(Math.min(Math.max(limit ?? defaultLimit, 1), mostPerPage), cursor, filter).pipe(
        Effect.flatMap(({ nextCursor, rows }) =>
          Effect.map(nextCursor === null ? Effect.succeed(null) : repo.timeOf(nextCursor), (scannedToMs) => ({
            rows,
            nextCursor,
            scannedToMs
          }))
        )
      ),
    facets,
    factsOf: facts,
    written: (limit, after, filter = {}) =>
      Effect.zipRight(journal.catchUp, repo.written({ limit: limit ?? defaultLimit, after, filter })),
    *quotas(nowMs) {
      for (const connection of catalog.current().connections)
        yield { connection, report: quotas.report(connection, nowMs) }
    },
    quotasOf
  })
})

export const layer: Layer.Layer<
  UsageReports,
  never,
  | Catalog
  | QuotaWindows
  | Slices
  | UsageJournal
  | UsageRepo
  | UsageSearchRepo
  | FacetsRepo
  | Effect.Effect.Context<typeof makeRowFacts>
> = Layer.effect(UsageReports, make)
