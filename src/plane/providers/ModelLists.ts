/**
 * The models upstreams list, by connection: in memory for the request path, in the store for the next start. A list stays until another
 * one takes its place, and a failed question leaves it as it is. Bounded in lists, and in models over all lists.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"
import type { StoreError } from "../../store/Errors.ts"
import { Snapshots } from "../../store/Snapshots.ts"
import * as ModelListRepo from "../../subjects/models/ModelListRepo.ts"
import { type ListedModel, listText, readListText } from "./ListedModel.ts"

export type { ListedModel } from "./ListedModel.ts"

/** A list as it was read; connections with the same list share it. */
interface List {
  readonly hash: string
  readonly models: ReadonlyArray<ListedModel>
  readonly byId: ReadonlyMap<string, ListedModel>
  readonly ids: ReadonlyArray<string>
}

/** State of a connection's list. */
export interface ListState {
  /** Origin and path that were asked. */
  readonly source: string
  readonly models: ReadonlyArray<ListedModel>
  /** Epoch milliseconds; null before the first answer. */
  readonly learnedAtMs: number | null
  /** Reason for which the last request had no answer, for people; null when it had one. */
  readonly problem: string | null
}

interface Entry extends ListState {
  readonly list: List | null
}

/** Connections whose list is kept; beyond it the one learned longest ago is dropped. */
export const capacity = 2_000
/** Models over all lists, each list counted once however many connections share it. */
const maxModelsInAll = 500_000
const freshForMs = 10 * 60_000
const maxProblemLength = 300

export class ModelLists extends Context.Tag("gateway/plane/providers/ModelLists")<
  ModelLists,
  {
    /** Hot: ids learned earlier, however old; empty when never learned. */
    readonly known: (connectionId: string) => ReadonlyArray<string>
    /** Hot: returns the learned facts of one model; null when it was not listed. */
    readonly find: (connectionId: string, modelId: string) => ListedModel | null
    /** Null when it was never asked. */
    readonly stateOf: (connectionId: string) => ListState | null
    /** The list when it is younger than ten minutes and the last question was answered, else null. */
    readonly fresh: (connectionId: string, nowMs: number) => ReadonlyArray<ListedModel> | null
    readonly learn: (
      connectionId: string,
      source: string,
      models: ReadonlyArray<ListedModel>,
      nowMs: number
    ) => Effect.Effect<void>
    /** The last list stays in force. */
    readonly failed: (connectionId: string, source: string, problem: string) => Effect.Effect<void>
    readonly forget: (connectionId: string) => Effect.Effect<void>
    /** Connections of which something is kept. */
    readonly connections: () => ReadonlyArray<string>
    /** Rises with every change of a list, so that what is made from one knows when it is old. */
    readonly revision: () => number
  }
>() {}

const none: ReadonlyArray<never> = []

const listOf = (hash: string, models: ReadonlyArray<ListedModel>): List => ({
  hash,
  models,
  byId: new Map(models.map((model) => [model.id, model])),
  ids: models.map(({ id }) => id)
})

const readStored = (hash: string, text: string | undefined): List | null => {
  const models = text === undefined ? null : readListText(text)
  return models === null ? null : listOf(hash, models)
}

const hashOf = (text: string): string => createHash("sha256").update(text).digest("base64url")

const services = Effect.all({ repo: ModelListRepo.ModelListRepo })
interface Deps extends Effect.Effect.Success<typeof services> {
  /** Every list that an entry holds, with the number of its entries. */
  readonly lists: Map<string, { readonly list: List; users: number }>
  modelsInAll: number
  /** Entries in the order in which they were learned. */
  readonly entries: Map<string, Entry>
  revision: number
}

const release = (deps: Deps, list: List | null): void => {
  const { lists } = deps
  const entry = list === null ? undefined : lists.get(list.hash)
  if (entry === undefined) return
  entry.users -= 1
  if (entry.users > 0) return
  lists.delete(entry.list.hash)
  deps.modelsInAll -= entry.list.models.length
}

const hold = (deps: Deps, list: List): List => {
  const { lists } = deps
  const entry = lists.get(list.hash)
  if (entry !== undefined) {
    entry.users += 1
    return entry.list
  }
  lists.set(list.hash, { list, users: 1 })
  deps.modelsInAll += list.models.length
  return list
}

const drop = (deps: Deps, connectionId: string): boolean => {
  const { entries } = deps
  const entry = entries.get(connectionId)
  if (entry === undefined) return false
  entries.delete(connectionId)
  release(deps, entry.list)
  return true
}

/** Dropped from memory only: the store has them for the next start. */
const makeRoom = (deps: Deps): void => {
  const { entries } = deps
  for (const oldest of entries.keys()) {
    if (entries.size <= capacity && (deps.modelsInAll <= maxModelsInAll || entries.size <= 1)) return
    drop(deps, oldest)
  }
}

const put = (deps: Deps, connectionId: string, state: Omit<Entry, "models">): void => {
  const list = state.list === null ? null : hold(deps, state.list)
  drop(deps, connectionId)
  deps.entries.set(connectionId, { ...state, list, models: list?.models ?? none })
  makeRoom(deps)
}

/** Writes to the store. A list that cannot be written is fetched again after the next start. */
const stored = (write: Effect.Effect<void, StoreError>): Effect.Effect<void> =>
  Effect.catchAll(write, (error) => Effect.logWarning(`A list of models was not stored: ${error.message}`))

const save = (
  { repo }: Deps,
  connectionId: string,
  { learnedAtMs, list, problem, source }: Entry,
  text: string | null
) => stored(repo.save({ connectionId, source, hash: list?.hash ?? null, learnedAtMs, problem }, text))

const learn = Effect.fn("ModelLists.learn")(function* (
  deps: Deps,
  connectionId: string,
  source: string,
  models: ReadonlyArray<ListedModel>,
  nowMs: number
) {
  const before = deps.entries.get(connectionId)
  const text = listText(models)
  const hash = hashOf(text)
  const isSame = before?.list?.hash === hash
  const entry = { source, list: isSame ? before.list : listOf(hash, models), learnedAtMs: nowMs, problem: null }
  put(deps, connectionId, entry)
  if (!isSame) deps.revision += 1
  yield* save(deps, connectionId, { ...entry, models }, isSame ? null : text)
})

const failed = Effect.fn("ModelLists.failed")(function* (
  deps: Deps,
  connectionId: string,
  source: string,
  said: string
) {
  const before = deps.entries.get(connectionId)
  const problem = said.slice(0, maxProblemLength)
  if (before?.problem === problem && before.source === source) return
  const kept = before?.source === source ? before : null
  const entry = { source, list: kept?.list ?? null, learnedAtMs: kept?.learnedAtMs ?? null, problem }
  put(deps, connectionId, entry)
  if (before?.list !== entry.list) deps.revision += 1
  yield* save(deps, connectionId, { ...entry, models: none }, null)
})

const forget = Effect.fn("ModelLists.forget")(function* (deps: Deps, connectionId: string) {
  if (!drop(deps, connectionId)) return
  deps.revision += 1
  yield* stored(deps.repo.remove(connectionId))
})

const putRow = (deps: Deps, texts: ReadonlyMap<string, string>, row: ModelListRepo.ModelListRow): void => {
  const { hash } = row
  const list = hash === null ? null : (deps.lists.get(hash)?.list ?? readStored(hash, texts.get(hash)))
  put(deps, row.connectionId, {
    source: row.source,
    list,
    learnedAtMs: list === null ? null : row.learnedAtMs,
    problem: row.problem
  })
}

/** Reads again what another process has changed. */
const reload = Effect.fnUntraced(function* (deps: Deps) {
  const texts = yield* deps.repo.texts
  const rows = yield* deps.repo.list
  const present = new Set(rows.map(({ connectionId }) => connectionId))
  for (const connectionId of deps.entries.keys()) if (!present.has(connectionId)) drop(deps, connectionId)
  for (const row of rows) putRow(deps, texts, row)
  deps.revision += 1
})

export const make = Effect.gen(function* () {
  const all = yield* services
  /** Entries in the order in which they were learned. */
  const entries = new Map<string, Entry>()
  /** Every list that an entry holds, with the number of its entries. */
  const lists = new Map<string, { readonly list: List; users: number }>()

  const texts = yield* all.repo.texts
  const deps: Deps = { ...all, lists, modelsInAll: 0, entries, revision: 0 }
  for (const row of yield* deps.repo.list) putRow(deps, texts, row)

  yield* (yield* Snapshots).register(["model_lists"], () => reload(deps))

  return ModelLists.of({
    known: (connectionId) => entries.get(connectionId)?.list?.ids ?? none,
    find: (connectionId, modelId) => entries.get(connectionId)?.list?.byId.get(modelId) ?? null,
    stateOf: (connectionId) => entries.get(connectionId) ?? null,
    fresh: (connectionId, nowMs) => {
      const entry = entries.get(connectionId)
      if (entry === undefined || entry.learnedAtMs === null || entry.problem !== null) return null
      return nowMs - entry.learnedAtMs < freshForMs ? entry.models : null
    },
    learn: (connectionId, source, models, nowMs) => learn(deps, connectionId, source, models, nowMs),
    failed: (connectionId, source, said) => failed(deps, connectionId, source, said),
    forget: (connectionId) => forget(deps, connectionId),
    connections: () => [...entries.keys()],
    revision: () => deps.revision
  })
})

export const layer: Layer.Layer<ModelLists, StoreError, Effect.Effect.Context<typeof services>> = Layer.effect(
  ModelLists,
  make
)
