/** The teams: how they are listed, made, changed and removed. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { IdGen } from "../../platform/IdGen.ts"
import { KeyChanges } from "../../plane/ledger/KeyChanges.ts"
import { KeyLimits, type Standing } from "../../plane/ledger/KeyLimits.ts"
import type { StoreError } from "../../store/Errors.ts"
import { People } from "../people/People.ts"
import * as Errors from "../Errors.ts"
import type { CreateTeam, UpdateTeam } from "./routes.ts"
import { maxTeams, type Team } from "./entity.ts"
import * as Rules from "./rules.ts"

export interface ObservedTeam {
  readonly team: Team
  readonly standings: ReadonlyArray<Standing>
}

type Refused = Errors.InvalidInput | Errors.StateConflict | StoreError

export class Teams extends Context.Tag("gateway/subjects/teams/Teams")<
  Teams,
  {
    /** Oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<ObservedTeam>>
    readonly get: (id: string) => Effect.Effect<ObservedTeam, Errors.EntityNotFound>
    readonly create: (input: CreateTeam) => Effect.Effect<ObservedTeam, Refused>
    readonly update: (id: string, input: UpdateTeam) => Effect.Effect<ObservedTeam, Refused | Errors.EntityNotFound>
    /** Refused while teams are below it. */
    readonly remove: (id: string) => Effect.Effect<void, Errors.EntityNotFound | Errors.StateConflict | StoreError>
  }
>() {}

export const make = Effect.gen(function* () {
  const people = yield* People
  const changes = yield* KeyChanges
  const limits = yield* KeyLimits
  const ids = yield* IdGen

  const observed = (team: Team): Effect.Effect<ObservedTeam> =>
    Effect.map(Clock.currentTimeMillis, (nowMs) => ({ team, standings: limits.ownerStandings(team.id, nowMs) }))

  const find = Effect.fnUntraced(function* (id: string) {
    return people.directory().teams.get(id) ?? (yield* new Errors.EntityNotFound({ entity: "team", id }))
  })

  const put = Effect.fnUntraced(function* (team: Team) {
    yield* Errors.refuseOne(Rules.problemOf(people.directory(), team))
    yield* Effect.catchTag(people.putTeam(team), "AlreadyStored", () => Errors.nameTaken("a team", team.name))
    yield* changes.ownersChanged
    return yield* observed(team)
  })

  const get = Effect.fn("Teams.get")((id: string) => Effect.flatMap(find(id), observed))

  const create = Effect.fn("Teams.create")(function* (input: CreateTeam) {
    if (people.directory().teams.size >= maxTeams) return yield* Errors.tooMany(maxTeams, "teams")
    const nowMs = yield* Clock.currentTimeMillis
    return yield* put({ ...Rules.settingsOf(input), id: ids.next(nowMs), createdAtMs: nowMs, updatedAtMs: nowMs })
  })

  const update = Effect.fn("Teams.update")(function* (id: string, input: UpdateTeam) {
    const before = yield* find(id)
    return yield* put({ ...before, ...Rules.changed(before, input), updatedAtMs: yield* Clock.currentTimeMillis })
  })

  const remove = Effect.fn("Teams.remove")(function* (id: string) {
    const { name } = yield* find(id)
    const below = [...people.directory().teams.values()].find(({ parent }) => parent === id)
    if (below !== undefined) {
      return yield* Errors.conflict(`The team '${below.name}' is below the team '${name}'. Move or remove it first.`)
    }
    yield* people.removeTeam(id)
    yield* changes.ownersChanged
  })

  const list = Effect.suspend(() => Effect.forEach(people.directory().teams.values(), observed))
  return Teams.of({ list, get, create, update, remove })
})

export const layer: Layer.Layer<Teams, never, IdGen | KeyChanges | KeyLimits | People> = Layer.effect(Teams, make)
