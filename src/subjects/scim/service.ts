/** People and groups that a directory pushes: how they are listed, made, changed and removed. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { asSentence } from "../../kernel/text/Sentence.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import type { IdGen } from "../../platform/IdGen.ts"
import type { KeyChanges } from "../../plane/ledger/KeyChanges.ts"
import type { Slices } from "../../plane/resilience/Slices.ts"
import { AlreadyStored, type StoreError } from "../../store/Errors.ts"
import type { Sessions } from "../auth/sessions/Sessions.ts"
import type { IssuerRepo } from "../issuers/repo.ts"
import { type Bounds, userProblem } from "../people/Bounds.ts"
import type { Directory } from "../people/Owners.ts"
import type { DirectoryChange, People } from "../people/People.ts"
import { groupsOf } from "../signIn/Pushed.ts"
import { maxTeams, type Team } from "../teams/entity.ts"
import { problemOf } from "../teams/rules.ts"
import { maxUsers, type User } from "../users/entity.ts"
import { badValue, maxPage, maxPageMembers, ScimError } from "./entity.ts"
import { type Attributes, readFilter, testOf } from "./Filter.ts"
import { type GroupDraft, patchGroup, readGroup } from "./GroupResource.ts"
import { readOperations } from "./Operations.ts"
import * as Resources from "./Resources.ts"
import * as Rules from "./rules.ts"
import { type Draft, patchUser, readUser } from "./UserResource.ts"

export interface Deps {
  readonly changes: typeof KeyChanges.Service
  readonly ids: typeof IdGen.Service
  readonly issuers: typeof IssuerRepo.Service
  readonly people: typeof People.Service
  readonly sessions: typeof Sessions.Service
  readonly slices: typeof Slices.Service
}

/** A change: who asks, in which state it is to be, and what is said. */
export interface Asked {
  readonly bounds: Bounds | null
  /** Checks the tag of the state that it was made for; false: it is another one. */
  readonly fits: (version: string) => boolean
  readonly body: JsonObject
}

export interface Query {
  readonly filter: string | null
  /** 1 for the first. */
  readonly startIndex: number
  readonly count: number
  readonly selection: Resources.Selection
}

/** Resources of a page. */
export interface Found<A> {
  readonly total: number
  readonly page: ReadonlyArray<A>
  readonly directory: Directory
}

export type Refused = ScimError | StoreError

const notFound = (what: "person" | "group"): ScimError =>
  new ScimError({ status: 404, detail: `There is no such ${what} of this directory.` })

const changedSince = new ScimError({ status: 412, detail: "It was changed since: read it again (If-Match)." })

const taken = (detail: string): ScimError => new ScimError({ status: 409, scimType: "uniqueness", detail })

const orFail = <A extends object>(value: A | ScimError): Effect.Effect<A, ScimError> =>
  value instanceof ScimError ? Effect.fail(value) : Effect.succeed(value)

/** Two changes within a millisecond are two states. */
const laterThan = ({ updatedAtMs }: User | Team): Effect.Effect<number> =>
  Effect.map(Clock.currentTimeMillis, (nowMs) => Math.max(nowMs, updatedAtMs + 1))

const checkRole = (bounds: Bounds | null, ...users: ReadonlyArray<Pick<User, "role">>) => {
  const problem = userProblem(bounds, ...users.map(({ role }) => role))
  return problem === null ? Effect.void : new ScimError({ status: 403, detail: problem })
}

const pushing = ({ issuers }: Deps) => Effect.map(issuers.list, (all) => all.find(({ scim }) => scim !== null) ?? null)

/** Makes changes in their turn. What another has is told as SCIM does. */
const changing = <A>(
  { changes, people }: Deps,
  conflict: string,
  decide: (directory: Directory) => Effect.Effect<readonly [DirectoryChange, A], Refused>
): Effect.Effect<A, Refused> =>
  people.change(decide).pipe(
    Effect.mapError((error) => (error instanceof AlreadyStored ? taken(conflict) : error)),
    Effect.zipLeft(changes.ownersChanged)
  )

/** The resources that a filter finds, in the order of their ids; others have their turn while many are looked at. */
const find = Effect.fnUntraced(function* <A extends { readonly id: string }>(
  { people, slices }: Deps,
  { count, filter, startIndex }: Query,
  attributes: Attributes<A>,
  all: (directory: Directory) => Iterable<A>
) {
  const read = filter === null ? null : yield* orFail(readFilter(filter))
  const test = read === null ? () => true : testOf(read, attributes)
  if (test instanceof ScimError) return yield* test
  const directory = people.directory()
  const fitting: Array<A> = []
  yield* slices.each(all(directory), (resource) => {
    if (test(resource)) fitting.push(resource)
  })
  fitting.sort((one, other) => (one.id < other.id ? -1 : 1))
  const page = fitting.slice(startIndex - 1, startIndex - 1 + Math.min(count, maxPage))
  return { total: fitting.length, page, directory }
})

const listUsers = Effect.fn("Scim.listUsers")((deps: Deps, query: Query) =>
  find(deps, query, Resources.userAttributes, ({ users }) => [...users.values()].filter(Rules.isPushedUser))
)

const listGroups = Effect.fn("Scim.listGroups")(function* (deps: Deps, query: Query) {
  const found = yield* find(deps, query, Resources.groupAttributes, ({ teams }) =>
    [...teams.values()].filter(({ source }) => source === "scim")
  )
  if (!Resources.isShown(query.selection, "members")) return found
  // The first is there in any case, so that a client comes to the end.
  let members = 0
  const page = found.page.filter((team, index) => {
    members += team.members.length
    return index === 0 || members <= maxPageMembers
  })
  return { ...found, page }
})

const userOf = ({ users }: Directory, id: string): Effect.Effect<Resources.PushedUser, ScimError> => {
  const user = users.get(id)
  return Rules.isPushedUser(user) ? Effect.succeed(user) : Effect.fail(notFound("person"))
}

const groupOf = ({ teams }: Directory, id: string): Effect.Effect<Team, ScimError> => {
  const team = teams.get(id)
  return team?.source === "scim" ? Effect.succeed(team) : Effect.fail(notFound("group"))
}

const nameTaken = "Another person has this userName."

const createUser = Effect.fn("Scim.createUser")(function* (deps: Deps, { body, bounds }: Asked) {
  const draft = yield* orFail(readUser(body))
  const issuer = yield* pushing(deps)
  return yield* changing(deps, nameTaken, (directory) =>
    Effect.gen(function* () {
      if (directory.users.size >= maxUsers) return yield* badValue(`There are ${maxUsers} people already, the limit.`)
      const nowMs = yield* Clock.currentTimeMillis
      const user = Rules.newUser(deps.ids.next(nowMs), draft, Rules.roleOf(issuer, [], null), nowMs)
      yield* checkRole(bounds, user)
      return [{ users: [user] }, user.id] as const
    })
  )
})

const changeUser = Effect.fn("Scim.changeUser")(function* (
  deps: Deps,
  id: string,
  { bounds, fits }: Asked,
  change: (before: Draft) => Draft | ScimError
) {
  const issuer = yield* pushing(deps)
  const { sessions } = deps
  const isActive = yield* changing(deps, nameTaken, (directory) =>
    Effect.gen(function* () {
      const before = yield* userOf(directory, id)
      if (!fits(Resources.userVersion(before))) return yield* changedSince
      const draft = yield* orFail(change({ provisioned: before.provisioned, active: before.state === "active" }))
      const role = Rules.roleOf(issuer, groupsOf(directory.teams.values(), id), before)
      const after: User = { ...before, ...Rules.pushedFacts(draft), role, updatedAtMs: yield* laterThan(before) }
      yield* checkRole(bounds, before, after)
      return [{ users: [after] }, draft.active] as const
    })
  )
  if (!isActive) yield* sessions.closeThose(({ userId }) => userId === id)
  return id
})

const removeUser = Effect.fn("Scim.removeUser")(function* (deps: Deps, id: string, { bounds, fits }: Asked) {
  yield* changing(deps, nameTaken, (directory) =>
    Effect.gen(function* () {
      const before = yield* userOf(directory, id)
      if (!fits(Resources.userVersion(before))) return yield* changedSince
      yield* checkRole(bounds, before)
      const teams = [...directory.teams.values()]
        .filter(({ members }) => members.includes(id))
        .map((team) => Rules.without(team, id))
      return [{ teams, removedUser: id }, null] as const
    })
  )
  yield* deps.sessions.closeThose(({ userId }) => userId === id)
})

const teamTaken = "Another group or team has this displayName."

/** Changes of a group, and of the roles of those who come to it or leave it. */
const groupChange = Effect.fnUntraced(function* (
  { slices }: Deps,
  directory: Directory,
  issuer: Rules.Pushing,
  bounds: Bounds | null,
  states: { readonly before: Team | null; readonly after: Team | null }
) {
  const { after, before } = states
  if (after !== null) {
    const problem = problemOf(directory, after)
    if (problem !== null) return yield* badValue(asSentence(`The group cannot be a team here: ${problem.message}`))
  }
  const users = Rules.movedRoles(issuer, directory, states, yield* Clock.currentTimeMillis)
  for (const user of users) yield* checkRole(bounds, user, directory.users.get(user.id) ?? user)
  return { users, pause: slices.turn, ...(after === null ? { removedTeam: before?.id ?? "" } : { teams: [after] }) }
})

const createGroup = Effect.fn("Scim.createGroup")(function* (deps: Deps, { body, bounds }: Asked) {
  const draft = yield* orFail(readGroup(body))
  const issuer = yield* pushing(deps)
  return yield* changing(deps, teamTaken, (directory) =>
    Effect.gen(function* () {
      if (directory.teams.size >= maxTeams) return yield* badValue(`There are ${maxTeams} teams already, the limit.`)
      const nowMs = yield* Clock.currentTimeMillis
      const made = Rules.newTeam(deps.ids.next(nowMs), issuer?.scim?.parent ?? null, nowMs)
      const after = yield* orFail(Rules.withGroup(directory, made, draft, nowMs))
      return [yield* groupChange(deps, directory, issuer, bounds, { before: null, after }), after.id] as const
    })
  )
})

const changeGroup = Effect.fn("Scim.changeGroup")(function* (
  deps: Deps,
  id: string,
  { bounds, fits }: Asked,
  change: (before: GroupDraft) => GroupDraft | ScimError
) {
  const issuer = yield* pushing(deps)
  return yield* changing(deps, teamTaken, (directory) =>
    Effect.gen(function* () {
      const before = yield* groupOf(directory, id)
      if (!fits(Resources.groupVersion(before))) return yield* changedSince
      const members = new Set(Rules.pushedMembers(directory, before))
      const draft = yield* orFail(change({ displayName: before.name, externalId: before.externalId, members }))
      const after = yield* orFail(Rules.withGroup(directory, before, draft, yield* laterThan(before)))
      return [yield* groupChange(deps, directory, issuer, bounds, { before, after }), id] as const
    })
  )
})

const removeGroup = Effect.fn("Scim.removeGroup")(function* (deps: Deps, id: string, { bounds, fits }: Asked) {
  const issuer = yield* pushing(deps)
  yield* changing(deps, teamTaken, (directory) =>
    Effect.gen(function* () {
      const before = yield* groupOf(directory, id)
      if (!fits(Resources.groupVersion(before))) return yield* changedSince
      const below = [...directory.teams.values()].find(({ parent }) => parent === id)
      if (below !== undefined) {
        return yield* new ScimError({
          status: 409,
          detail: `The team '${below.name}' is below it. Move or remove it first.`
        })
      }
      return [yield* groupChange(deps, directory, issuer, bounds, { before, after: null }), null] as const
    })
  )
})

/** Makes what serves the resources. */
export const makeScim = (deps: Deps) => {
  const replaced =
    <A extends object>(read: (body: JsonObject) => A | ScimError, body: JsonObject) =>
    (): A | ScimError =>
      read(body)
  const patched =
    <A extends object>(
      patch: (before: A, operations: Exclude<ReturnType<typeof readOperations>, ScimError>) => A | ScimError,
      body: JsonObject
    ) =>
    (before: A): A | ScimError => {
      const operations = readOperations(body)
      return operations instanceof ScimError ? operations : patch(before, operations)
    }
  const { people } = deps
  return {
    listUsers: (query: Query) => listUsers(deps, query),
    listGroups: (query: Query) => listGroups(deps, query),
    getUser: (id: string) => Effect.suspend(() => userOf(people.directory(), id)),
    getGroup: (id: string) => Effect.suspend(() => groupOf(people.directory(), id)),
    createUser: (asked: Asked) => createUser(deps, asked),
    replaceUser: (id: string, asked: Asked) => changeUser(deps, id, asked, replaced(readUser, asked.body)),
    patchUser: (id: string, asked: Asked) => changeUser(deps, id, asked, patched(patchUser, asked.body)),
    removeUser: (id: string, asked: Asked) => removeUser(deps, id, asked),
    createGroup: (asked: Asked) => createGroup(deps, asked),
    replaceGroup: (id: string, asked: Asked) => changeGroup(deps, id, asked, replaced(readGroup, asked.body)),
    patchGroup: (id: string, asked: Asked) => changeGroup(deps, id, asked, patched(patchGroup, asked.body)),
    removeGroup: (id: string, asked: Asked) => removeGroup(deps, id, asked),
    directory: () => people.directory()
  }
}

export type Scim = ReturnType<typeof makeScim>
