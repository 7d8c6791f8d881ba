/** The people: how they are listed, added, changed and removed. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { IdGen } from "../../platform/IdGen.ts"
import { KeyChanges } from "../../plane/ledger/KeyChanges.ts"
import { KeyLimits, type Standing } from "../../plane/ledger/KeyLimits.ts"
import type { StoreError } from "../../store/Errors.ts"
import { Sessions } from "../auth/sessions/Sessions.ts"
import { type Bounds, userProblem } from "../people/Bounds.ts"
import { People } from "../people/People.ts"
import * as Errors from "../Errors.ts"
import type { CreateUser, UpdateUser } from "./routes.ts"
import { maxUsers, type User } from "./entity.ts"
import * as Rules from "./rules.ts"

export interface ObservedUser {
  readonly user: User
  /** Ids of the teams that have the person as a member. */
  readonly teams: ReadonlyArray<string>
  readonly standings: ReadonlyArray<Standing>
}

export class Users extends Context.Tag("gateway/subjects/users/Users")<
  Users,
  {
    /** Oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<ObservedUser>>
    readonly get: (id: string) => Effect.Effect<ObservedUser, Errors.EntityNotFound>
    readonly create: (
      input: CreateUser,
      bounds?: Bounds | null
    ) => Effect.Effect<ObservedUser, Errors.RoleExceeded | Errors.StateConflict | StoreError>
    readonly update: (
      id: string,
      input: UpdateUser,
      bounds?: Bounds | null
    ) => Effect.Effect<ObservedUser, Errors.EntityNotFound | Errors.RoleExceeded | Errors.StateConflict | StoreError>
    /** Takes the person out of all teams; the person's keys are refused from then on. */
    readonly remove: (
      id: string,
      bounds?: Bounds | null
    ) => Effect.Effect<void, Errors.EntityNotFound | Errors.RoleExceeded | StoreError>
  }
>() {}

const emailTaken = (email: string) => () =>
  Errors.conflict(`Another person has the e-mail address '${email}'.`, "email")

export const make = Effect.gen(function* () {
  const people = yield* People
  const changes = yield* KeyChanges
  const limits = yield* KeyLimits
  const ids = yield* IdGen
  const sessions = yield* Sessions

  /** Ids of teams by their members. */
  const memberships = (): ReadonlyMap<string, ReadonlyArray<string>> => {
    const found = new Map<string, Array<string>>()
    for (const { id, members } of people.directory().teams.values()) {
      for (const member of members) {
        const known = found.get(member)
        if (known === undefined) found.set(member, [id])
        else known.push(id)
      }
    }
    return found
  }

  const observed = (user: User, teams: ReturnType<typeof memberships>, nowMs: number): ObservedUser => ({
    user,
    teams: teams.get(user.id) ?? [],
    standings: limits.ownerStandings(user.id, nowMs)
  })
  const shown = (user: User): Effect.Effect<ObservedUser> =>
    Effect.map(Clock.currentTimeMillis, (nowMs) => observed(user, memberships(), nowMs))

  const find = Effect.fnUntraced(function* (id: string) {
    return people.directory().users.get(id) ?? (yield* new Errors.EntityNotFound({ entity: "person", id }))
  })

  const put = Effect.fnUntraced(function* (user: User) {
    yield* Effect.catchTag(people.putUser(user), "AlreadyStored", emailTaken(user.email))
    yield* changes.ownersChanged
    return yield* shown(user)
  })

  const endSessions = (id: string) => sessions.closeThose(({ userId }) => userId === id)

  const get = Effect.fn("Users.get")((id: string) => Effect.flatMap(find(id), shown))

  const create = Effect.fn("Users.create")(function* (input: CreateUser, bounds: Bounds | null = null) {
    yield* Errors.refuseRole(userProblem(bounds, input.role))
    if (people.directory().users.size >= maxUsers) return yield* Errors.tooMany(maxUsers, "people")
    const nowMs = yield* Clock.currentTimeMillis
    return yield* put({ ...Rules.settingsOf(input), id: ids.next(nowMs), createdAtMs: nowMs, updatedAtMs: nowMs })
  })

  const update = Effect.fn("Users.update")(function* (id: string, input: UpdateUser, bounds: Bounds | null = null) {
    const before = yield* find(id)
    yield* Errors.refuseRole(userProblem(bounds, before.role, input.role))
    const after = { ...before, ...Rules.changed(before, input), updatedAtMs: yield* Clock.currentTimeMillis }
    const observed = yield* put(after)
    if (after.state === "suspended") yield* endSessions(id)
    return observed
  })

  const remove = Effect.fn("Users.remove")(function* (id: string, bounds: Bounds | null = null) {
    yield* Errors.refuseRole(userProblem(bounds, (yield* find(id)).role))
    yield* Effect.catchTag(people.removeUser(id), "AlreadyStored", Effect.die)
    yield* endSessions(id)
    yield* changes.ownersChanged
  })

  const list = Effect.map(Clock.currentTimeMillis, (nowMs) => {
    const teams = memberships()
    return Array.from(people.directory().users.values(), (user) => observed(user, teams, nowMs))
  })
  return Users.of({ list, get, create, update, remove })
})

export const layer: Layer.Layer<Users, never, IdGen | KeyChanges | KeyLimits | People | Sessions> = Layer.effect(
  Users,
  make
)
