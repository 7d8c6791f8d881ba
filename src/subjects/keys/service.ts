/** The API keys of this gateway: how they are listed, made, changed and removed. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import type { CreateKey, RotateKey, UpdateKey } from "./routes.ts"
import { ApiKeys, type CreatedKey, maxOldSecrets } from "../auth/ApiKeys.ts"
import { type Bounds, givingProblem, reaches, renewingProblem } from "../people/Bounds.ts"
import { People } from "../people/People.ts"
import type { ApiKey, ApiKeySettings } from "./entity.ts"
import type { KeyMarker } from "../../kernel/secrets/GatewayKey.ts"
import { KeyChanges } from "../../plane/ledger/KeyChanges.ts"
import type { StoreError } from "../../store/Errors.ts"
import { QuotaGroupRepo } from "../quotaGroups/repo.ts"
import { RegisteredKeyRepo } from "../registeredKeys/repo.ts"
import { ConfigChanges } from "../ConfigChanges.ts"
import * as Errors from "../Errors.ts"
import * as Rules from "./rules.ts"

/** Methods on single keys. `Refused`: their refusal where they are held to the bounds of a role. */
interface KeyMethods<Refused> {
  /** A key beyond the bounds is not there. */
  readonly get: (id: string) => Effect.Effect<ApiKey, Errors.EntityNotFound>
  /** The secret is in the result and nowhere else. */
  readonly create: (input: CreateKey) => Effect.Effect<CreatedKey, Errors.InvalidInput | Refused | StoreError>
  readonly update: (
    id: string,
    input: UpdateKey
  ) => Effect.Effect<ApiKey, Errors.EntityNotFound | Errors.InvalidInput | Errors.StateConflict | Refused | StoreError>
  /** Another secret; the one before works until the overlap ends. */
  readonly rotate: (
    id: string,
    input: RotateKey
  ) => Effect.Effect<CreatedKey, Errors.EntityNotFound | Errors.StateConflict | Refused | StoreError>
  /** The key loses its allocations in quota groups, too. */
  readonly remove: (id: string) => Effect.Effect<void, Errors.EntityNotFound | Refused | StoreError>
}

export class Keys extends Context.Tag("gateway/subjects/keys/Keys")<
  Keys,
  KeyMethods<never> & {
    /** Oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<ApiKey>>
    /** A key of these settings, with its limits in force. `store` runs the insertion, with what else has to be stored or checked. */
    readonly issue: <E>(
      settings: ApiKeySettings,
      marker: KeyMarker,
      store: (key: ApiKey, insert: Effect.Effect<void, StoreError>) => Effect.Effect<void, E>
    ) => Effect.Effect<CreatedKey, E | StoreError>
    /** Within the bounds of a caller's role; null: none. */
    readonly within: (bounds: Bounds | null) => KeyMethods<Errors.RoleExceeded>
  }
>() {}

type Within = (bounds: Bounds | null) => KeyMethods<Errors.RoleExceeded>

const unbounded = <A, E>(refusing: Effect.Effect<A, E | Errors.RoleExceeded>) =>
  Effect.catchIf(refusing, (error): error is Errors.RoleExceeded => error instanceof Errors.RoleExceeded, Effect.die)

/** The methods for callers within bounds, and for those without. */
const bothWays = (within: Within): KeyMethods<never> & { readonly within: Within } => {
  const all = within(null)
  return {
    within,
    get: all.get,
    create: (input) => unbounded(all.create(input)),
    update: (id, input) => unbounded(all.update(id, input)),
    rotate: (id, input) => unbounded(all.rotate(id, input)),
    remove: (id) => unbounded(all.remove(id))
  }
}

export const make = Effect.gen(function* () {
  const keys = yield* ApiKeys
  const groups = yield* QuotaGroupRepo
  const limits = yield* KeyChanges
  const registrations = yield* RegisteredKeyRepo
  const people = yield* People
  const { apply } = yield* ConfigChanges

  const found = (id: string) => (key: ApiKey | null) =>
    key === null ? new Errors.EntityNotFound({ entity: "API key", id }) : Effect.succeed(key)

  const get = Effect.fn("Keys.get")((bounds: Bounds | null, id: string) =>
    Effect.suspend(() => {
      const key = keys.get(id)
      return found(id)(key !== null && reaches(bounds, key) ? key : null)
    })
  )

  const issue = <E>(
    settings: ApiKeySettings,
    marker: KeyMarker,
    store: (key: ApiKey, insert: Effect.Effect<void, StoreError>) => Effect.Effect<void, E>
  ): Effect.Effect<CreatedKey, E | StoreError> =>
    // Rates are found by the first request of a key; what is counted by the day is counted from here on.
    Effect.uninterruptible(
      Effect.tap(keys.issue(settings, marker, store), ({ key }) =>
        (key.maxRequestsPerDay ?? 0) > 0 || key.userId !== null || key.teamId !== null
          ? limits.changed(key.id)
          : Effect.void
      )
    )

  const create = Effect.fn("Keys.create")(function* (bounds: Bounds | null, input: CreateKey) {
    const settings = Rules.settingsOf(input, yield* Clock.currentTimeMillis)
    if (Either.isLeft(settings)) return yield* new Errors.InvalidInput({ problems: [settings.left] })
    yield* Errors.refuseRole(givingProblem(people.directory(), bounds, null, settings.right))
    yield* Errors.refuseOne(Rules.ownerProblem(people.directory(), settings.right))
    return yield* issue(settings.right, "gw_", (_, insert) => insert)
  })

  const update = Effect.fn("Keys.update")(function* (bounds: Bounds | null, id: string, input: UpdateKey) {
    const before = yield* get(bounds, id)
    if (input.isActive === true && ((yield* registrations.get(id))?.revokedAtMs ?? null) !== null) {
      return yield* new Errors.StateConflict({
        code: "key_revoked",
        message: `The key '${id}' was revoked, which is for good. Register another one.`
      })
    }
    const change = Rules.moved(before, Rules.changeOf(input), yield* Clock.currentTimeMillis)
    yield* Errors.refuseRole(givingProblem(people.directory(), bounds, before, { ...before, ...change }))
    if (change.ownedSinceMs !== undefined) {
      yield* Errors.refuseOne(Rules.ownerProblem(people.directory(), { ...before, ...change }))
    }
    const key = yield* Effect.flatMap(keys.update(id, change), found(id))
    yield* limits.changed(id)
    return key
  })

  const rotate = Effect.fn("Keys.rotate")(function* (bounds: Bounds | null, id: string, { overlapSeconds }: RotateKey) {
    const before = yield* get(bounds, id)
    yield* Errors.refuseRole(renewingProblem(people.directory(), bounds, before))
    const rotated = yield* keys.rotate(id, (overlapSeconds ?? 0) * 1_000)
    if (rotated === "full") {
      return yield* Errors.conflict(
        `${maxOldSecrets} earlier secrets of this key still work, the most there may be. Rotate with overlapSeconds 0 to end them, or wait.`,
        "overlapSeconds"
      )
    }
    return rotated ?? (yield* new Errors.EntityNotFound({ entity: "API key", id }))
  })

  const remove = Effect.fn("Keys.remove")(function* (bounds: Bounds | null, id: string) {
    const before = yield* get(bounds, id)
    yield* Errors.refuseRole(givingProblem(people.directory(), bounds, before, null))
    if (!(yield* keys.remove(id))) return yield* new Errors.EntityNotFound({ entity: "API key", id })
    yield* groups.dropApiKey(id)
    yield* limits.removed(id)
  }, apply)

  return Keys.of({
    list: Effect.sync(keys.list),
    issue,
    ...bothWays((bounds) => ({
      get: (id) => get(bounds, id),
      create: (input) => create(bounds, input),
      update: (id, input) => update(bounds, id, input),
      rotate: (id, input) => rotate(bounds, id, input),
      remove: (id) => remove(bounds, id)
    }))
  })
})

export const layer: Layer.Layer<
  Keys,
  never,
  ApiKeys | ConfigChanges | KeyChanges | People | QuotaGroupRepo | RegisteredKeyRepo
> = Layer.effect(Keys, make)
