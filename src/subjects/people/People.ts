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

/** Changes that belong together. */
export interface DirectoryChange {
  readonly users?: ReadonlyArray<User>
  readonly teams?: ReadonlyArray<Team>
  /** Id of a person that no team of the change has as a member. */
  readonly removedUser?: string
  readonly removedTeam?: string
  /** Runs between some of many people, so that others have their turn. */
  readonly pause?: Effect.Effect<void>
}

/** People that are written without a pause: a few milliseconds. */
const usersOfTurn = 20

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
    /** Decides on changes by the directory as it is in their turn, and makes them. Nothing else changes it in between. */
    readonly change: <A, E>(
      decide: (directory: Directory) => Effect.Effect<readonly [DirectoryChange, A], E>
    ) => Effect.Effect<A, E | Written>
    /** False when there is none. */
    readonly removeTeam: (id: string) => Effect.Effect<boolean, StoreError>
  }
>() {}

const byId = <A extends { readonly id: string }>(all: ReadonlyArray<A>): ReadonlyMap<string, A> =>
  new Map(all.map((each) => [each.id, each]))

/** The directory after changes: thousands of people are not read again for one of them. */
const changed = (
  before: Directory,
  { removedTeam, removedUser, teams = [], users = [] }: DirectoryChange
): Directory => {
  const after = { users: new Map(before.users), teams: new Map(before.teams) }
  for (const user of users) after.users.set(user.id, user)
  for (const team of teams) after.teams.set(team.id, team)
  if (removedUser !== undefined) after.users.delete(removedUser)
  if (removedTeam !== undefined) after.teams.delete(removedTeam)
  return after
}

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

  const write = Effect.fnUntraced(function* (changes: DirectoryChange) {
    for (const team of changes.teams ?? []) if (!(yield* teams.update(team))) yield* teams.insert(team)
    let written = 0
    for (const user of changes.users ?? []) {
      if (!(yield* users.update(user))) yield* users.insert(user)
      written += 1
      if (written % usersOfTurn === 0 && changes.pause !== undefined) yield* changes.pause
    }
    if (changes.removedTeam !== undefined) yield* teams.remove(changes.removedTeam)
    if (changes.removedUser !== undefined) yield* users.remove(changes.removedUser)
  })
  const change = Effect.fn("People.change")(function* <A, E>(
    decide: (directory: Directory) => Effect.Effect<readonly [DirectoryChange, A], E>
  ) {
    const [changes, result] = yield* decide(current)
    yield* Effect.uninterruptible(
      Effect.tapError(write(changes), () => reload).pipe(
        Effect.map(() => {
          current = changed(current, changes)
          for (const listener of listeners) listener()
        })
      )
    )
    return result
  }, inTurn)

  return People.of({
    directory: () => current,
    onChanged: (listener) => void listeners.add(listener),
    putUser,
    removeUser,
    change,
    putTeam,
    removeTeam
  })
})

export const layer: Layer.Layer<People, StoreError, TeamRepo | UserRepo> = Layer.effect(People, make)
