/** Facts about rows of the usage log that are not in them: names, the decision, the record in the inspector. */
import * as Effect from "effect/Effect"
import type { UsageRow } from "../../contract/domain/Usage.ts"
import { LazyInspector } from "../../observe/inspector/LazyInspector.ts"
import { Catalog } from "../../plane/providers/Catalog.ts"
import { DecisionLog } from "../../plane/routing/records/DecisionLog.ts"
import type { StoreError } from "../../store/Errors.ts"
import { ApiKeys } from "../auth/ApiKeys.ts"
import { DecisionRepo } from "../routing/repo.ts"
import { type NamedKind, UsageRepo } from "./repo.ts"

export interface RowFacts {
  readonly apiKeyName: string | null
  readonly connectionName: string | null
  readonly hasDecision: boolean
  readonly captureId: string | null
}

type NameOf = (id: string) => string | null

const distinct = (ids: ReadonlyArray<string | null>): ReadonlyArray<string> =>
  [...new Set(ids.filter((id) => id !== null && id !== ""))] as ReadonlyArray<string>

/** Makes what finds names by ids: the present one or, of what is deleted, the last one. */
export const makeNames = Effect.gen(function* () {
  const catalog = yield* Catalog
  const keys = yield* ApiKeys
  const repo = yield* UsageRepo

  const presentOf = (kind: NamedKind): NameOf => {
    if (kind === "key") return (id) => keys.get(id)?.name ?? null
    const names = new Map(catalog.current().connections.map(({ id, name }) => [id, name] as const))
    return (id) => names.get(id) ?? null
  }

  return (kind: NamedKind, ids: ReadonlyArray<string | null>): Effect.Effect<NameOf, StoreError> => {
    const present = presentOf(kind)
    const gone = distinct(ids).filter((id) => present(id) === null)
    if (gone.length === 0) return Effect.succeed(present)
    return Effect.map(repo.lastNames(kind, gone), (last) => (id) => present(id) ?? last.get(id) ?? null)
  }
})

export const makeRowFacts = Effect.gen(function* () {
  const decisions = yield* DecisionRepo
  const log = yield* DecisionLog
  const inspector = yield* LazyInspector
  const names = yield* makeNames

  return Effect.fn("UsageReports.factsOf")(function* (rows: ReadonlyArray<UsageRow>) {
    const keyName = yield* names(
      "key",
      rows.map(({ apiKeyId }) => apiKeyId)
    )
    const connectionName = yield* names(
      "connection",
      rows.map(({ connectionId }) => connectionId)
    )
    const inMemory = (id: string): boolean => log.entry(id) !== null
    const others = distinct(rows.map(({ requestId }) => requestId)).filter((id) => !inMemory(id))
    const stored = others.length === 0 ? new Set<string>() : yield* decisions.kept(others)
    const captureOf = inspector.current()?.inspector.recordOf ?? (() => null)
    return ({ apiKeyId, connectionId, requestId }: UsageRow): RowFacts => ({
      apiKeyName: apiKeyId === null ? null : keyName(apiKeyId),
      connectionName: connectionId === null ? null : connectionName(connectionId),
      hasDecision: inMemory(requestId) || stored.has(requestId),
      captureId: captureOf(requestId)
    })
  })
})
