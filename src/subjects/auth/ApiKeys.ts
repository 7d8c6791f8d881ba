/**
 * The keys of this gateway in memory: looked up by hash on the request path, written through to the store on change. What
 * a key may be used for is checked separately (`KeyPolicy`), so that unknown and forbidden keys get different errors.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import * as Schedule from "effect/Schedule"
import { randomBytes } from "node:crypto"
import { makeLane } from "../../kernel/Lane.ts"
import type { ApiKey, ApiKeySettings, Principal } from "../keys/entity.ts"
import { type KeyMarker, markerOf } from "../../kernel/secrets/GatewayKey.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { IdGen } from "../../platform/IdGen.ts"
import type { StoreError } from "../../store/Errors.ts"
import { type ChangedRows, Snapshots } from "../../store/Snapshots.ts"
import * as ApiKeyRepo from "../keys/repo.ts"
import { mayManage } from "./Access.ts"
import type { Identified } from "./Access.ts"
import { ownerRules } from "../people/Owners.ts"
import * as People from "../people/People.ts"
import { stateProblemOf } from "./KeyPolicy.ts"
import { formatKey, hashKey, prefixOf } from "./KeyFormat.ts"

/** Secrets of one key that were replaced and still work. */
export const maxOldSecrets = 5

export interface CreatedKey {
  readonly key: ApiKey
  /** Secret, shown to the caller once, then dropped. */
  readonly secret: Redacted.Redacted
}

export class ApiKeys extends Context.Tag("gateway/subjects/auth/ApiKeys")<
  ApiKeys,
  {
    /** Hot: looks up the owner of a key. */
    readonly identify: (rawKey: string | null) => Identified
    /** Hot: notes that a key was used; written to the store later, at most every five minutes per key. */
    readonly used: (key: ApiKey, nowMs: number) => void
    /** Hot: tells whether the admin key or an active key with a management scope exists. */
    readonly canManage: (nowMs: number) => boolean
    /** Oldest first. */
    readonly list: () => ReadonlyArray<ApiKey>
    readonly get: (id: string) => ApiKey | null
    readonly create: (settings: ApiKeySettings) => Effect.Effect<CreatedKey, StoreError>
    /** Creates a key with another marker. `store` runs the insertion it is given, together with what else has to be stored or checked. */
    readonly issue: <E>(
      settings: ApiKeySettings,
      marker: KeyMarker,
      store: (key: ApiKey, insert: Effect.Effect<void, StoreError>) => Effect.Effect<void, E>
    ) => Effect.Effect<CreatedKey, E>
    /** Null when there is no such key. */
    readonly update: (id: string, change: Partial<ApiKeySettings>) => Effect.Effect<ApiKey | null, StoreError>
    /**
     * Gives the key another secret. The ones before it work for `overlapMs` more at most; all of them end at once when that is 0. Null when
     * there is no such key, `full` when as many of them still work as may.
     */
    readonly rotate: (id: string, overlapMs: number) => Effect.Effect<CreatedKey | "full" | null, StoreError>
    /** False when there was no such key. */
    readonly remove: (id: string) => Effect.Effect<boolean, StoreError>
  }
>() {}

const usedEveryMs = 5 * 60_000
const adminKey: Principal = { _tag: "AdminKey" }

const services = Effect.all({ config: AppConfig, ids: IdGen, people: People.People, repo: ApiKeyRepo.ApiKeyRepo })
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly byHash: Map<string, Principal>
  /** Replaced secrets by their hash: the id of the key, and when they end. */
  readonly replaced: Map<string, { readonly id: string; readonly untilMs: number }>
  readonly byId: Map<string, ApiKey>
  readonly clock: Clock.Clock
  readonly toWrite: Map<string, number>
  /** Changes are serialised: a key removed while another change of it is being written must not come back to memory. */
  readonly oneAtATime: <A, E, R>(self: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Runs a change without another one beside it. */
const alone = <A, E, R>(change: Effect.Effect<A, E, R>, { oneAtATime }: Deps) => oneAtATime(change)

const forget = ({ byHash, replaced }: Deps, { hash, oldSecrets }: ApiKey): void => {
  byHash.delete(hash)
  for (const old of oldSecrets) replaced.delete(old.hash)
}

/** The key with the rules of its owners as they are now. */
const owned = ({ people }: Deps, { owners: _owners, ...key }: ApiKey): ApiKey => {
  const owners = ownerRules(people.directory(), key)
  return owners === undefined ? key : { ...key, owners }
}

const put = (deps: Deps, given: ApiKey): void => {
  const key = given.userId === null && given.teamId === null ? given : owned(deps, given)
  const before = deps.byId.get(key.id)
  if (before !== undefined) forget(deps, before)
  deps.byId.set(key.id, key)
  deps.byHash.set(key.hash, { _tag: "Key", key })
  for (const { hash, untilMs } of key.oldSecrets) deps.replaced.set(hash, { id: key.id, untilMs })
}

const identify = (deps: Deps, rawKey: string | null): Identified => {
  // How long a hash takes to be found says nothing of a key: its sender cannot choose the bytes of a hash.
  if (rawKey === null) return "missing"
  const hash = hashKey(rawKey)
  return deps.byHash.get(hash) ?? byOldSecret(deps, hash) ?? "wrong"
}

const byOldSecret = ({ byHash, byId, clock, replaced }: Deps, hash: string): Principal | undefined => {
  const old = replaced.get(hash)
  const key = old === undefined || old.untilMs <= clock.unsafeCurrentTimeMillis() ? undefined : byId.get(old.id)
  return key === undefined ? undefined : byHash.get(key.hash)
}

const used = (deps: Deps, key: ApiKey, nowMs: number): void => {
  const known = deps.byId.get(key.id)
  if (known === undefined || nowMs - (known.lastUsedAtMs ?? 0) < usedEveryMs) return
  put(deps, { ...known, lastUsedAtMs: nowMs })
  deps.toWrite.set(key.id, nowMs)
}

const writeUses = ({ byId, repo, toWrite }: Deps) =>
  Effect.suspend(() => {
    if (toWrite.size === 0) return Effect.void
    const batch = new Map(toWrite)
    toWrite.clear()
    return Effect.tapError(repo.touchLastUsed(batch), () =>
      Effect.sync(() => {
        for (const [id, usedAtMs] of batch) if (byId.has(id) && !toWrite.has(id)) toWrite.set(id, usedAtMs)
      })
    )
  }).pipe(Effect.catchAll((error) => Effect.logWarning(`Times of last use could not be written: ${error.message}`)))

const issue = Effect.fn("ApiKeys.issue")(
  function* <E>(
    deps: Deps,
    settings: ApiKeySettings,
    marker: KeyMarker,
    store: (key: ApiKey, insert: Effect.Effect<void, StoreError>) => Effect.Effect<void, E>
  ) {
    const nowMs = yield* Clock.currentTimeMillis
    const secret = formatKey(randomBytes(32), marker)
    const key: ApiKey = {
      ...settings,
      id: deps.ids.next(nowMs),
      prefix: prefixOf(secret),
      hash: hashKey(secret),
      oldSecrets: [],
      createdAtMs: nowMs,
      lastUsedAtMs: null
    }
    yield* store(key, Effect.catchTag(deps.repo.insert(key), "AlreadyStored", Effect.die))
    put(deps, key)
    return { key, secret: Redacted.make(secret) }
  },
  alone,
  Effect.uninterruptible
)

const create = (deps: Deps, settings: ApiKeySettings) => issue(deps, settings, "gw_", (_, insert) => insert)

const update = Effect.fn("ApiKeys.update")(
  function* (deps: Deps, id: string, change: Partial<ApiKeySettings>) {
    const known = deps.byId.get(id)
    if (known === undefined) return null
    const key = owned(deps, { ...known, ...change })
    yield* Effect.catchTag(deps.repo.update(key), "AlreadyStored", Effect.die)
    // It may have been used in the meantime.
    put(deps, { ...key, lastUsedAtMs: deps.byId.get(id)?.lastUsedAtMs ?? key.lastUsedAtMs })
    return key
  },
  alone,
  Effect.uninterruptible
)

const rotate = Effect.fn("ApiKeys.rotate")(
  function* (deps: Deps, id: string, overlapMs: number) {
    const known = deps.byId.get(id)
    if (known === undefined) return null
    const nowMs = yield* Clock.currentTimeMillis
    const untilMs = nowMs + overlapMs
    const oldSecrets = [{ hash: known.hash, untilMs }, ...known.oldSecrets]
      .map((old) => ({ hash: old.hash, untilMs: Math.min(old.untilMs, untilMs) }))
      .filter((old) => old.untilMs > nowMs)
    if (oldSecrets.length > maxOldSecrets) return "full"
    const secret = formatKey(randomBytes(32), markerOf(known.prefix) ?? "gw_")
    const key: ApiKey = { ...known, prefix: prefixOf(secret), hash: hashKey(secret), oldSecrets }
    yield* Effect.catchTag(deps.repo.update(key), "AlreadyStored", Effect.die)
    const used = { ...key, lastUsedAtMs: deps.byId.get(id)?.lastUsedAtMs ?? key.lastUsedAtMs }
    put(deps, used)
    return { key: used, secret: Redacted.make(secret) }
  },
  alone,
  Effect.uninterruptible
)

const remove = Effect.fn("ApiKeys.remove")(
  function* (deps: Deps, id: string) {
    const known = deps.byId.get(id)
    if (known === undefined) return false
    yield* deps.repo.remove(id)
    deps.byId.delete(id)
    forget(deps, known)
    return true
  },
  alone,
  Effect.uninterruptible
)

/** Reads again keys that another process has changed. */
const reload = (deps: Deps, ids: ChangedRows): Effect.Effect<void, StoreError> =>
  deps.oneAtATime(
    Effect.gen(function* () {
      const { byId, repo } = deps
      const found =
        ids === "all"
          ? yield* repo.list
          : (yield* Effect.forEach(ids, (id) => repo.get(id))).filter((key) => key !== null)
      const present = new Set(found.map(({ id }) => id))
      for (const id of ids === "all" ? [...byId.keys()] : ids) {
        const known = byId.get(id)
        if (known === undefined || present.has(id)) continue
        byId.delete(id)
        forget(deps, known)
      }
      for (const key of found) put(deps, key)
    })
  )

export const make = Effect.gen(function* () {
  const all = yield* services
  const adminHash = all.config.adminKey === null ? null : hashKey(Redacted.value(all.config.adminKey))

  const byId = new Map<string, ApiKey>()
  const byHash = new Map<string, Principal>()
  const replaced = new Map<string, { readonly id: string; readonly untilMs: number }>()
  const toWrite = new Map<string, number>()
  const clock = yield* Effect.clock
  const oneAtATime = makeLane(1).inTurn
  const deps: Deps = { ...all, byHash, replaced, byId, clock, toWrite, oneAtATime }
  for (const key of yield* all.repo.list) put(deps, key)
  if (adminHash !== null) byHash.set(adminHash, adminKey)
  yield* (yield* Snapshots).register(["api_keys"], (ids) => reload(deps, ids))
  all.people.onChanged(() => {
    for (const key of byId.values()) if (key.userId !== null || key.teamId !== null) put(deps, key)
  })
  yield* Effect.addFinalizer(() => writeUses(deps))
  yield* Effect.forkScoped(Effect.repeat(writeUses(deps), Schedule.spaced("1 minute")))

  return ApiKeys.of({
    identify: (rawKey) => identify(deps, rawKey),
    used: (key, nowMs) => used(deps, key, nowMs),
    canManage: (nowMs) =>
      adminHash !== null || [...byId.values()].some((key) => mayManage(key) && stateProblemOf(key, nowMs) === null),
    list: () => [...byId.values()],
    get: (id) => byId.get(id) ?? null,
    create: (settings) => create(deps, settings),
    issue: (settings, marker, store) => issue(deps, settings, marker, store),
    update: (id, change) => update(deps, id, change),
    rotate: (id, overlapMs) => rotate(deps, id, overlapMs),
    remove: (id) => remove(deps, id)
  })
})

/** Layer of the keys, and of the people and teams that they belong to. */
export const layer: Layer.Layer<
  ApiKeys | People.People,
  StoreError,
  AppConfig | IdGen | ApiKeyRepo.ApiKeyRepo | Layer.Layer.Context<typeof People.layer>
> = Layer.scoped(ApiKeys, make).pipe(Layer.provideMerge(People.layer))
