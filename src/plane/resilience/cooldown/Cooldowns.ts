/**
 * The health of all connections: in memory for the request path, kept in the store so that a restart does not forget an exhausted
 * account.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import type { ConnectionHealth } from "../../../subjects/connections/entity.ts"
import * as ConnectionRepo from "../../../subjects/connections/repo.ts"
import * as EnvHealthRepo from "../../../subjects/system/repo.ts"
import * as SettingsRepo from "../../../subjects/settings/repo.ts"
import type { StoreError } from "../../../store/Errors.ts"
import { makeSignal } from "../../../kernel/collections/Signal.ts"
import { Replica } from "../../state/Replica.ts"
import { makeWriteBehind } from "../WriteBehind.ts"
import { type CooldownEntry, type CooldownStates, fresh, makeCooldownStates } from "./CooldownStates.ts"
import * as ModelCooldowns from "./ModelCooldowns.ts"

export class Cooldowns extends Context.Tag("gateway/plane/resilience/cooldown/Cooldowns")<
  Cooldowns,
  Omit<CooldownStates, "get" | "lasting" | "reset" | "renew"> & {
    /** An operator's word, or new credentials: the connection is as new, whatever calls that began before still bring. */
    readonly reset: (connectionId: string) => Effect.Effect<void>
    /**
     * The fingerprint of the credential an environment connection has now. Another one than its health was observed with makes it
     * as new: a dead key that was replaced in the environment is not dead any more. True when it is another.
     */
    readonly credentialIs: (connectionId: string, fingerprint: string) => boolean
    /** Calls `listener` with each connection whose health has changed, until the returned function is called. */
    readonly listen: (
      listener: (change: { readonly connectionId: string; readonly health: ConnectionHealth }) => void
    ) => () => void
    /** Completes when all earlier changes are in the store, or could not be written (which is logged). Never fails. */
    readonly flush: Effect.Effect<void>
  }
>() {}

const namespace = "connection_cooldowns"
const decode = (stored: unknown) => Schema.decodeUnknownEither(ModelCooldowns.Stored)(stored)

const isSame = (one: ConnectionHealth, other: ConnectionHealth): boolean =>
  one.testStatus === other.testStatus && one.rateLimitedUntilMs === other.rateLimitedUntilMs

/** Changes of the health of a connection, in every process. */
const everywhere = (shared: (typeof Replica.Service)["shared"], states: CooldownStates) => ({
  fail: shared("cooldown.fail", states.fail, states.changes),
  failModel: shared("cooldown.failModel", states.failModel, states.changes),
  succeed: shared("cooldown.succeed", states.succeed, states.changes),
  resetAt: shared("cooldown.reset", states.reset),
  renew: shared("cooldown.renew", states.renew)
})

export const make = Effect.gen(function* () {
  const connections = yield* ConnectionRepo.ConnectionRepo
  const environment = yield* EnvHealthRepo.EnvHealthRepo
  const settings = yield* SettingsRepo.SettingsRepo
  /** Credentials, by connection, that its health was observed with. Environment connections only. */
  const credentials = new Map<string, string | null>()
  const details = yield* settings.list(namespace)
  /** Connections with details in the store. */
  const detailed = new Set(details.keys())

  const entryOf = (id: string, health: ConnectionHealth): CooldownEntry => {
    const { backoffLevel, errorCode, lastError, lastErrorType, rateLimitedUntilMs, testStatus } = health
    const row = { backoffLevel, errorCode, lastError, lastErrorType, rateLimitedUntilMs, testStatus }
    const plain = { own: { ...fresh, ...row }, models: ModelCooldowns.none }
    const decoded = decode(details.get(id))
    if (Either.isLeft(decoded)) return plain
    const known = ModelCooldowns.restored(decoded.right, fresh)
    // A row that was written since the details knows more.
    return isSame(ModelCooldowns.shown(known.own, known.own.failedAtMs, known.models), row) ? known : plain
  }

  const initial = new Map<string, CooldownEntry>()
  for (const connection of yield* connections.list) initial.set(connection.id, entryOf(connection.id, connection))
  for (const [id, health] of yield* environment.list) {
    initial.set(id, entryOf(id, health))
    credentials.set(id, health.credential)
  }

  const writeDetails = (id: string): Effect.Effect<void, StoreError> => {
    const entry = states.get(id)
    const known = entry === undefined ? null : ModelCooldowns.stored(entry.own, entry.models)
    if (known !== null) {
      detailed.add(id)
      return settings.set(namespace, id, known)
    }
    return detailed.delete(id) ? Effect.asVoid(settings.remove(namespace, id)) : Effect.void
  }

  const writeBehind = yield* makeWriteBehind("The health", (id) => {
    if (states.get(id) === undefined) return writeDetails(id)
    const health = states.lasting(id)
    return Effect.flatMap(connections.updateHealth(id, health), (isStored) =>
      isStored || states.get(id) === undefined
        ? Effect.void
        : environment.save(id, { ...health, credential: credentials.get(id) ?? null })
    ).pipe(Effect.zipRight(Effect.suspend(() => writeDetails(id))))
  })

  const signal = makeSignal<{ readonly connectionId: string; readonly health: ConnectionHealth }>()
  const changed = (connectionId: string): void => {
    writeBehind.touch(connectionId)
    signal.tell({ connectionId, health: states.healthOf(connectionId) })
  }

  const states: CooldownStates = makeCooldownStates({ initial, changed })
  // Of connections that were removed while the gateway was down.
  for (const id of detailed) if (states.get(id) === undefined) writeBehind.touch(id)

  const { changes, doubtMs, healthOf, isAtRest, onlyOthersFailed, modelWaitMs, modelState, waitMs } = states
  const { shared } = yield* Replica
  const { fail, failModel, renew, resetAt, succeed } = everywhere(shared, states)
  const drop = shared("cooldown.forget", (id: string) => {
    states.forget(id)
    credentials.delete(id)
    if (detailed.has(id)) writeBehind.touch(id)
  })
  return Cooldowns.of({
    changes,
    isAtRest,
    healthOf,
    waitMs,
    modelWaitMs,
    modelState,
    doubtMs,
    fail,
    onlyOthersFailed,
    failModel,
    succeed,
    reset: (id) =>
      Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
        resetAt(id, nowMs)
        return writeBehind.flush
      }),
    credentialIs: (id, fingerprint) => {
      const before = credentials.get(id)
      if (before === fingerprint) return false
      credentials.set(id, fingerprint)
      // Health of unknown origin is taken to be this credential's.
      const isAnother = before !== null && before !== undefined
      if (isAnother) renew(id)
      if (states.get(id) !== undefined) writeBehind.touch(id)
      return isAnother
    },
    forget: drop,
    listen: signal.listen,
    flush: writeBehind.flush
  })
})

export const layer: Layer.Layer<
  Cooldowns,
  StoreError,
  ConnectionRepo.ConnectionRepo | EnvHealthRepo.EnvHealthRepo | SettingsRepo.SettingsRepo
> = Layer.scoped(Cooldowns, make)
