/** The people and teams of this gateway in memory, written through to the store on change. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../../kernel/Lane.ts"
import type { AlreadyStored, StoreError } from "../../store/Errors.ts"
import { Snapshots } from "../../store/Snapshots.ts"
import type { Team } from "../teams/entity.ts"
import { TeamRepo } from "../teams/repo.ts"
import type { User } from "../users/entity.ts"
import { UserRepo } from "../users/repo.ts"
import type { Directory } from "./Owners.ts"

type Written = StoreError | AlreadyStored

export class People extends Context.Tag("gateway/subjects/people/People")<
  People,
  {
    /** Another object after each change. */
    readonly directory: () => Directory
    /** Calls `listener` after each change, in the turn in which it holds. */
    readonly onChanged: (listener: () => void) => void
    /** Adds a person, or changes the one of the same id. */
    readonly putUser: (user: User) => Effect.Effect<void, Written>
    /** Removes a person, and from the teams. False when there is none. */
    readonly removeUser: (id: string) => Effect.Effect<boolean, Written>
    /** Adds a team, or changes the one of the same id. */
    readonly putTeam: (team: Team) => Effect.Effect<void, Written>
    /** False when there is none. */
    readonly removeTeam: (id: string) => Effect.Effect<boolean, StoreError>
  }
>() {}

const byId = <A extends { readonly id: string }>(all: ReadonlyArray<A>): ReadonlyMap<string, A> =>
  new Map(all.map((each) => [each.id, each]))

export const make = Effect.gen(function* () {
  const users = yield* UserRepo
  const teams = yield* TeamRepo
  const { inTurn } = makeLane(1)
  const listeners = new Set<() => void>()
  const read = Effect.map(Effect.all([users.list, teams.list]), ([allUsers, allTeams]) => ({
    users: byId(allUsers),
    teams: byId(allTeams)
  }))
  let current: Directory = yield* read
  const reload = Effect.map(read, (found) => {
    current = found
    for (const listener of listeners) listener()
  })
  yield* (yield* Snapshots).register(["users", "teams"], () => inTurn(reload))

  const changing = <A, E>(change: Effect.Effect<A, E>): Effect.Effect<A, E | StoreError> =>
    inTurn(Effect.uninterruptible(Effect.zipLeft(change, reload)))

  const putUser = Effect.fn("People.putUser")(function* (user: User) {
    if (!(yield* users.update(user))) yield* users.insert(user)
  }, changing)
  const removeUser = Effect.fn("People.removeUser")(function* (id: string) {
    for (const team of current.teams.values()) {
      if (!team.members.includes(id)) continue
      yield* teams.update({ ...team, members: team.members.filter((member) => member !== id) })
    }
    return yield* users.remove(id)
  }, changing)
  const putTeam = Effect.fn("People.putTeam")(function* (team: Team) {
    if (!(yield* teams.update(team))) yield* teams.insert(team)
  }, changing)
  const removeTeam = Effect.fn("People.removeTeam")((id: string) => changing(teams.remove(id)))

  return People.of({
    directory: () => current,
    onChanged: (listener) => void listeners.add(listener),
    putUser,
    removeUser,
    putTeam,
    removeTeam
  })
})

export const layer: Layer.Layer<People, StoreError, TeamRepo | UserRepo> = Layer.effect(People, make)
