/** Stored connections and all that belongs to them: what is written, observed and removed together. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Connection } from "./entity.ts"
import { ProxyPlan } from "../../plane/providers/ProxyPlan.ts"
import type { StoreError } from "../../store/Errors.ts"
import { ConnectionRepo } from "./repo.ts"
import { QuotaGroupRepo } from "../quotaGroups/repo.ts"
import { RegisteredKeyRepo } from "../registeredKeys/repo.ts"
import { ObservedState } from "./ObservedState.ts"

export class ConnectionRecords extends Context.Tag("gateway/subjects/connections/ConnectionRecords")<
  ConnectionRecords,
  {
    /** Replaces the settings. Health observed meanwhile is kept, unless the credential is another one. */
    readonly replace: (
      connection: Connection,
      options: { readonly hasNewCredential: boolean }
    ) => Effect.Effect<void, StoreError>
    /** Removes the connection, its place in quota groups, its limits on registered keys, its proxy, and what was observed of it. */
    readonly remove: (connectionId: string) => Effect.Effect<void, StoreError>
  }
>() {}

export const make = Effect.gen(function* () {
  const repo = yield* ConnectionRepo
  const groups = yield* QuotaGroupRepo
  const registrations = yield* RegisteredKeyRepo
  const observed = yield* ObservedState
  const proxies = yield* ProxyPlan

  const replace = Effect.fn("ConnectionRecords.replace")(function* (
    connection: Connection,
    { hasNewCredential }: { readonly hasNewCredential: boolean }
  ) {
    const { id } = connection
    const record = { ...connection, ...observed.of(connection).health }
    yield* Effect.catchTag(repo.update(record), "AlreadyStored", Effect.die)
    yield* hasNewCredential ? observed.reset(id) : repo.updateHealth(id, observed.of(connection).health)
  })

  const remove = Effect.fn("ConnectionRecords.remove")(function* (connectionId: string) {
    yield* repo.remove(connectionId)
    yield* groups.dropConnection(connectionId)
    yield* registrations.removeLimits({ scope: "account", subject: connectionId })
    yield* proxies.assign("connection", connectionId, null)
    yield* observed.forget(connectionId)
  })

  return ConnectionRecords.of({ replace, remove })
})

export const layer: Layer.Layer<
  ConnectionRecords,
  never,
  ConnectionRepo | QuotaGroupRepo | RegisteredKeyRepo | ObservedState | ProxyPlan
> = Layer.effect(ConnectionRecords, make)
