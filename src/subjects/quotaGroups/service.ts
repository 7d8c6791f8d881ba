/** Quota groups: connections whose quota several API keys share. A connection or key that is removed leaves its groups. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { CreateQuotaGroup, UpdateQuotaGroup } from "./routes.ts"
import { ApiKeys } from "../auth/ApiKeys.ts"
import type { QuotaGroup } from "./entity.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Catalog } from "../../plane/providers/Catalog.ts"
import { QuotaShareUsage, type ShareUsage } from "../../plane/routing/quota/QuotaShareUsage.ts"
import type { StoreError } from "../../store/Errors.ts"
import { QuotaGroupRepo } from "./repo.ts"
import { ConfigChanges } from "../ConfigChanges.ts"
import * as Errors from "../Errors.ts"
import { problemOf } from "./rules.ts"

/** A group with what its keys have used of their shares now. */
export interface ObservedGroup {
  readonly group: QuotaGroup
  readonly standings: ReadonlyArray<ShareUsage>
}

export class QuotaGroups extends Context.Tag("gateway/subjects/quotaGroups/QuotaGroups")<
  QuotaGroups,
  {
    /** Lists by name. */
    readonly list: Effect.Effect<ReadonlyArray<ObservedGroup>, StoreError>
    readonly get: (id: string) => Effect.Effect<ObservedGroup, Errors.EntityNotFound | StoreError>
    readonly create: (
      input: CreateQuotaGroup
    ) => Effect.Effect<ObservedGroup, Errors.InvalidInput | Errors.StateConflict | StoreError>
    readonly update: (
      id: string,
      input: UpdateQuotaGroup
    ) => Effect.Effect<ObservedGroup, Errors.EntityNotFound | Errors.InvalidInput | Errors.StateConflict | StoreError>
    readonly remove: (id: string) => Effect.Effect<void, Errors.EntityNotFound | StoreError>
  }
>() {}

const nameTaken = (name: string) => () => Errors.nameTaken("a group", name)

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const repo = yield* QuotaGroupRepo
  const keys = yield* ApiKeys
  const shares = yield* QuotaShareUsage
  const ids = yield* IdGen
  const { apply } = yield* ConfigChanges

  const observed = (group: QuotaGroup): Effect.Effect<ObservedGroup> =>
    Effect.map(Clock.currentTimeMillis, (nowMs) => ({ group, standings: shares.standings(group, nowMs) }))

  const find = Effect.fnUntraced(function* (id: string) {
    return (yield* repo.get(id)) ?? (yield* new Errors.EntityNotFound({ entity: "quota group", id }))
  })

  const check = (group: QuotaGroup) =>
    Errors.refuseOne(
      problemOf(group, {
        connections: new Set(catalog.current().connections.map(({ id }) => id)),
        apiKeys: new Set(keys.list().map(({ id }) => id))
      })
    )

  const create = Effect.fn("QuotaGroups.create")(function* (input: CreateQuotaGroup) {
    const nowMs = yield* Clock.currentTimeMillis
    const allocations = input.allocations ?? []
    const group: QuotaGroup = {
      id: ids.next(nowMs),
      name: input.name,
      members: input.members,
      allocations,
      restricted: allocations.length > 0,
      createdAtMs: nowMs,
      updatedAtMs: nowMs
    }
    yield* check(group)
    yield* Effect.catchTag(repo.insert(group), "AlreadyStored", nameTaken(group.name))
    return yield* observed(group)
  }, apply)

  const update = Effect.fn("QuotaGroups.update")(function* (id: string, input: UpdateQuotaGroup) {
    const before = yield* find(id)
    const allocations = input.allocations?.map(({ apiKeyId, weight }) => ({ apiKeyId, weight }))
    const group: QuotaGroup = {
      ...before,
      name: input.name ?? before.name,
      members: input.members ?? before.members,
      allocations: allocations ?? before.allocations,
      restricted: allocations === undefined ? before.restricted : allocations.length > 0,
      updatedAtMs: yield* Clock.currentTimeMillis
    }
    yield* check(group)
    yield* Effect.catchTag(repo.update(group), "AlreadyStored", nameTaken(group.name))
    return yield* observed(group)
  }, apply)

  const remove = Effect.fn("QuotaGroups.remove")(function* (id: string) {
    if (yield* repo.remove(id)) return
    return yield* new Errors.EntityNotFound({ entity: "quota group", id })
  }, apply)

  return QuotaGroups.of({
    list: Effect.flatMap(repo.list, Effect.forEach(observed)),
    get: Effect.fn("QuotaGroups.get")((id: string) => Effect.flatMap(find(id), observed)),
    create,
    update,
    remove
  })
})

export const layer: Layer.Layer<
  QuotaGroups,
  never,
  ApiKeys | Catalog | ConfigChanges | IdGen | QuotaGroupRepo | QuotaShareUsage
> = Layer.effect(QuotaGroups, make)
