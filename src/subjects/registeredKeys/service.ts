/**
 * API keys that programs register for one provider and, if they want, one of its accounts. Each is an API key like any other: budgets, logs and
 * revocation are those of API keys.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { createHash } from "node:crypto"
import type { RegisterKey } from "./routes.ts"
import { ApiKeys, type CreatedKey } from "../auth/ApiKeys.ts"
import type { ApiKey } from "../keys/entity.ts"
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import { hourMs, type Registration } from "./entity.ts"
import { Catalog } from "../../plane/providers/Catalog.ts"
import type { StoreError } from "../../store/Errors.ts"
import { RegisteredKeyRepo } from "./repo.ts"
import * as Errors from "../Errors.ts"
import { IssueLimits, scopesOf } from "../issueLimits/service.ts"
import { settingsOf } from "../keys/rules.ts"
import { Keys } from "../keys/service.ts"

export interface RegisteredKey {
  readonly key: ApiKey
  readonly registration: Registration
}

type Missing = Errors.EntityNotFound | StoreError

const registeredBefore = (keyId: string) =>
  new Errors.StateConflict({
    code: "IDEMPOTENCY_CONFLICT",
    message: `The key '${keyId}' was registered with this idempotencyKey; its secret cannot be shown again. Use that key, or revoke it and register with another idempotencyKey.`,
    field: "idempotencyKey",
    keyId
  })

export class RegisteredKeys extends Context.Tag("gateway/subjects/registeredKeys/RegisteredKeys")<
  RegisteredKeys,
  {
    /** Counting and issuing are one transaction: of many at once no more get a key than may. */
    readonly register: (
      input: RegisterKey
    ) => Effect.Effect<
      RegisteredKey & CreatedKey,
      Errors.InvalidInput | Errors.QuotaReached | Errors.StateConflict | StoreError
    >
    /** Oldest first; null: whichever provider or account. */
    readonly list: (
      provider: string | null,
      accountId: string | null
    ) => Effect.Effect<ReadonlyArray<RegisteredKey>, StoreError>
    readonly get: (id: string) => Effect.Effect<RegisteredKey, Missing>
    /** Revokes a key for good. A key that is revoked already stays as it is. */
    readonly revoke: (id: string) => Effect.Effect<RegisteredKey, Missing | Errors.StateConflict>
    readonly remove: (id: string) => Effect.Effect<void, Missing>
  }
>() {}

/** A caller may choose a secret as its idempotency key. */
const hashOf = (idempotencyKey: string): string => createHash("sha256").update(idempotencyKey).digest("hex")

const wrongAccount = (message: string): FieldProblem => ({ field: "accountId", message })

export const make = Effect.gen(function* () {
  const apiKeys = yield* ApiKeys
  const catalog = yield* Catalog
  const keys = yield* Keys
  const limits = yield* IssueLimits
  const repo = yield* RegisteredKeyRepo

  const accountProblem = (accountId: string, provider: string): FieldProblem | null => {
    const { connections, provider: specOf } = catalog.current()
    const connection = connections.find(({ id }) => id === accountId)
    if (connection === undefined) return wrongAccount("is not the id of a connection")
    return specOf(connection.provider)?.id === provider
      ? null
      : wrongAccount(`is a connection of ${connection.provider}, not of ${provider}`)
  }

  const register = Effect.fn("RegisteredKeys.register")(function* (input: RegisterKey) {
    const nowMs = yield* Clock.currentTimeMillis
    const provider = catalog.current().provider(input.provider)?.id
    if (provider === undefined) return yield* Errors.unknownProvider(input.provider)
    const accountId = input.accountId ?? null
    if (accountId !== null) yield* Errors.refuseOne(accountProblem(accountId, provider))
    const settings = settingsOf(
      {
        name: input.name,
        allowedProviders: [provider],
        ...(accountId === null ? {} : { allowedConnections: [accountId] }),
        ...(input.expiresAt == null ? {} : { expiresAt: input.expiresAt }),
        ...(input.dailyBudget == null ? {} : { maxRequestsPerDay: input.dailyBudget }),
        ...(input.hourlyBudget == null ? {} : { rateLimits: [{ limit: input.hourlyBudget, window: hourMs / 1_000 }] })
      },
      nowMs
    )
    if (Either.isLeft(settings)) return yield* new Errors.InvalidInput({ problems: [settings.left] })
    const idempotencyHash = input.idempotencyKey === undefined ? null : hashOf(input.idempotencyKey)
    const registrationOf = (key: ApiKey): Registration => ({
      keyId: key.id,
      provider,
      accountId,
      idempotencyHash,
      issuedAtMs: key.createdAtMs,
      revokedAtMs: null
    })
    const issued = yield* keys.issue(settings.right, "gwr_", (key, insert) =>
      repo.atomically(
        Effect.gen(function* () {
          yield* repo.tidy(nowMs)
          const before = idempotencyHash === null ? null : yield* repo.byIdempotencyHash(idempotencyHash)
          if (before !== null) return yield* registeredBefore(before.keyId)
          const reached = yield* limits.exhausted(scopesOf(provider, accountId))
          if (reached !== null) return yield* reached
          yield* insert
          yield* repo.insert(registrationOf(key))
        })
      )
    )
    return { ...issued, registration: registrationOf(issued.key) }
  })

  const list = Effect.fn("RegisteredKeys.list")(function* (provider: string | null, accountId: string | null) {
    const id = provider === null ? null : (catalog.current().provider(provider)?.id ?? provider)
    return (yield* repo.list)
      .filter((row) => (id === null || row.provider === id) && (accountId === null || row.accountId === accountId))
      .flatMap((registration) => {
        const key = apiKeys.get(registration.keyId)
        return key === null ? [] : [{ key, registration }]
      })
  })

  const get = Effect.fn("RegisteredKeys.get")(function* (id: string) {
    const registration = yield* repo.get(id)
    const key = apiKeys.get(id)
    if (registration === null || key === null) {
      return yield* new Errors.EntityNotFound({ entity: "registered key", id })
    }
    return { key, registration }
  })

  const revoke = Effect.fn("RegisteredKeys.revoke")(function* (id: string) {
    if ((yield* get(id)).registration.revokedAtMs === null) {
      yield* Effect.catchTag(keys.update(id, { isActive: false }), "InvalidInput", Effect.die)
      yield* repo.revoke(id, yield* Clock.currentTimeMillis)
    }
    return yield* get(id)
  })

  const remove = Effect.fn("RegisteredKeys.remove")((id: string) => Effect.zipRight(get(id), keys.remove(id)))

  return RegisteredKeys.of({ register, list, get, revoke, remove })
})

export const layer: Layer.Layer<RegisteredKeys, never, ApiKeys | Catalog | IssueLimits | Keys | RegisteredKeyRepo> =
  Layer.effect(RegisteredKeys, make)
