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
import type { ApiKey, ApiKeySettings, Principal } from "../keys/entity.ts"
import { type KeyMarker, markerOf } from "../../kernel/secrets/GatewayKey.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import { IdGen } from "../../platform/IdGen.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as ApiKeyRepo from "../keys/repo.ts"
import { mayManage } from "./Access.ts"
import type { Identified } from "./Access.ts"
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

export const make = Effect.gen(function* () {
  const config = yield* AppConfig
  const ids = yield* IdGen
  const repo = yield* ApiKeyRepo.ApiKeyRepo
  const adminHash = config.adminKey === null ? null : hashKey(Redacted.value(config.adminKey))

  const byId = new Map<string, ApiKey>()
  const byHash = new Map<string, Principal>()
  /** Replaced secrets by their hash: the id of the key, and when they end. */
  const replaced = new Map<string, { readonly id: string; readonly untilMs: number }>()
  const toWrite = new Map<string, number>()
  const clock = yield* Effect.clock

  const forget = ({ hash, oldSecrets }: ApiKey): void => {
    byHash.delete(hash)
    for (const old of oldSecrets) replaced.delete(old.hash)
  }

  const put = (key: ApiKey): void => {
    const before = byId.get(key.id)
    if (before !== undefined) forget(before)
    byId.set(key.id, key)
    byHash.set(key.hash, { _tag: "Key", key })
    for (const { hash, untilMs } of key.oldSecrets) replaced.set(hash, { id: key.id, untilMs })
  }
  for (const key of yield* repo.list) put(key)
  if (adminHash !== null) byHash.set(adminHash, adminKey)

  const identify = (rawKey: string | null): Identified => {
    // How long a hash takes to be found says nothing of a key: its sender cannot choose the bytes of a hash.
    if (rawKey === null) return "missing"
    const hash = hashKey(rawKey)
    return byHash.get(hash) ?? byOldSecret(hash) ?? "wrong"
  }

  const byOldSecret = (hash: string): Principal | undefined => {
    const old = replaced.get(hash)
    const key = old === undefined || old.untilMs <= clock.unsafeCurrentTimeMillis() ? undefined : byId.get(old.id)
    return key === undefined ? undefined : byHash.get(key.hash)
  }

  const used = (key: ApiKey, nowMs: number): void => {
    const known = byId.get(key.id)
    if (known === undefined || nowMs - (known.lastUsedAtMs ?? 0) < usedEveryMs) return
    put({ ...known, lastUsedAtMs: nowMs })
    toWrite.set(key.id, nowMs)
  }

  const writeUses = Effect.suspend(() => {
    if (toWrite.size === 0) return Effect.void
    const batch = new Map(toWrite)
    toWrite.clear()
    return Effect.tapError(repo.touchLastUsed(batch), () =>
      Effect.sync(() => {
        for (const [id, usedAtMs] of batch) if (byId.has(id) && !toWrite.has(id)) toWrite.set(id, usedAtMs)
      })
    )
  }).pipe(Effect.catchAll((error) => Effect.logWarning(`Times of last use could not be written: ${error.message}`)))
  yield* Effect.addFinalizer(() => writeUses)
  yield* Effect.forkScoped(Effect.repeat(writeUses, Schedule.spaced("1 minute")))

  /** Changes are serialised: a key removed while another change of it is being written must not come back to memory. */
  const oneAtATime = (yield* Effect.makeSemaphore(1)).withPermits(1)

  const issue = Effect.fn("ApiKeys.issue")(function* <E>(
    settings: ApiKeySettings,
    marker: KeyMarker,
    store: (key: ApiKey, insert: Effect.Effect<void, StoreError>) => Effect.Effect<void, E>
  ) {
    const nowMs = yield* Clock.currentTimeMillis
    const secret = formatKey(randomBytes(32), marker)
    const key: ApiKey = {
      ...settings,
      id: ids.next(nowMs),
      prefix: prefixOf(secret),
      hash: hashKey(secret),
      oldSecrets: [],
      createdAtMs: nowMs,
      lastUsedAtMs: null
    }
    yield* store(key, Effect.catchTag(repo.insert(key), "AlreadyStored", Effect.die))
    put(key)
    return { key, secret: Redacted.make(secret) }
  }, Effect.uninterruptible)

  const create = (settings: ApiKeySettings) => issue(settings, "gw_", (_, insert) => insert)

  const update = Effect.fn("ApiKeys.update")(
    function* (id: string, change: Partial<ApiKeySettings>) {
      const known = byId.get(id)
      if (known === undefined) return null
      const key: ApiKey = { ...known, ...change }
      yield* Effect.catchTag(repo.update(key), "AlreadyStored", Effect.die)
      // It may have been used in the meantime.
      put({ ...key, lastUsedAtMs: byId.get(id)?.lastUsedAtMs ?? key.lastUsedAtMs })
      return key
    },
    oneAtATime,
    Effect.uninterruptible
  )

  const rotate = Effect.fn("ApiKeys.rotate")(
    function* (id: string, overlapMs: number) {
      const known = byId.get(id)
      if (known === undefined) return null
      const nowMs = yield* Clock.currentTimeMillis
      const untilMs = nowMs + overlapMs
      const oldSecrets = [{ hash: known.hash, untilMs }, ...known.oldSecrets]
        .map((old) => ({ hash: old.hash, untilMs: Math.min(old.untilMs, untilMs) }))
        .filter((old) => old.untilMs > nowMs)
      if (oldSecrets.length > maxOldSecrets) return "full"
      const secret = formatKey(randomBytes(32), markerOf(known.prefix) ?? "gw_")
      const key: ApiKey = { ...known, prefix: prefixOf(secret), hash: hashKey(secret), oldSecrets }
      yield* Effect.catchTag(repo.update(key), "AlreadyStored", Effect.die)
      const used = { ...key, lastUsedAtMs: byId.get(id)?.lastUsedAtMs ?? key.lastUsedAtMs }
      put(used)
      return { key: used, secret: Redacted.make(secret) }
    },
    oneAtATime,
    Effect.uninterruptible
  )

  const remove = Effect.fn("ApiKeys.remove")(
    function* (id: string) {
      const known = byId.get(id)
      if (known === undefined) return false
      yield* repo.remove(id)
      byId.delete(id)
      forget(known)
      return true
    },
    oneAtATime,
    Effect.uninterruptible
  )

  return ApiKeys.of({
    identify,
    used,
    canManage: (nowMs) =>
      adminHash !== null || [...byId.values()].some((key) => mayManage(key) && stateProblemOf(key, nowMs) === null),
    list: () => [...byId.values()],
    get: (id) => byId.get(id) ?? null,
    create,
    issue,
    update,
    rotate,
    remove
  })
})

export const layer: Layer.Layer<ApiKeys, StoreError, AppConfig | IdGen | ApiKeyRepo.ApiKeyRepo> = Layer.scoped(
  ApiKeys,
  make
)
