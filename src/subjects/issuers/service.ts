/** The issuers that sign people in: how they are listed, added, changed and removed. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../../kernel/Lane.ts"
import { Upstream } from "../../net/egress/Upstream.ts"
import { IdGen } from "../../platform/IdGen.ts"
import type { StoreError } from "../../store/Errors.ts"
import { Sessions } from "../auth/sessions/Sessions.ts"
import { addressProblem } from "../connections/rules.ts"
import { Flags } from "../flags/service.ts"
import { type Bounds, userProblem } from "../people/Bounds.ts"
import { People } from "../people/People.ts"
import * as Errors from "../Errors.ts"
import { inspect } from "./Inspection.ts"
import { makeIssuerClients } from "./IssuerClient.ts"
import { type Issuer, maxIssuers } from "./entity.ts"
import { IssuerRepo, type StoredIssuer } from "./repo.ts"
import type { CreateIssuer, UpdateIssuer } from "./routes.ts"
import * as Rules from "./rules.ts"

type Refused = Errors.InvalidInput | Errors.RoleExceeded | Errors.StateConflict | StoreError

export interface IssuerReport {
  /** Sentences; empty: people could sign in, as far as the documents say. */
  readonly problems: ReadonlyArray<string>
  /** The issuer has an address for logging out. */
  readonly endSession: boolean
}

export class Issuers extends Context.Tag("gateway/subjects/issuers/Issuers")<
  Issuers,
  {
    /** Oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<StoredIssuer>, StoreError>
    readonly get: (id: string) => Effect.Effect<StoredIssuer, Errors.EntityNotFound | StoreError>
    readonly create: (input: CreateIssuer, bounds?: Bounds | null) => Effect.Effect<StoredIssuer, Refused>
    /** Ends the sessions of an issuer that is switched off. */
    readonly update: (
      id: string,
      input: UpdateIssuer,
      bounds?: Bounds | null
    ) => Effect.Effect<StoredIssuer, Refused | Errors.EntityNotFound>
    /** Reads the issuer's documents now. */
    readonly test: (id: string) => Effect.Effect<IssuerReport, Errors.EntityNotFound | StoreError>
    /** Ends the sessions that began by it. */
    readonly remove: (
      id: string,
      bounds?: Bounds | null
    ) => Effect.Effect<void, Errors.EntityNotFound | Errors.RoleExceeded | StoreError>
  }
>() {}

export const make = Effect.gen(function* () {
  const flags = yield* Flags
  const ids = yield* IdGen
  const people = yield* People
  const repo = yield* IssuerRepo
  const sessions = yield* Sessions
  const open = yield* makeIssuerClients(yield* Upstream)
  // A change is read, checked and written without another one in between.
  const oneAtATime = makeLane(1).inTurn

  const get = Effect.fn("Issuers.get")(function* (id: string) {
    return (yield* repo.get(id)) ?? (yield* new Errors.EntityNotFound({ entity: "issuer", id }))
  })

  /** Only an owner says by which groups people become owners. */
  const checkRoles = (bounds: Bounds | null, ...all: ReadonlyArray<Issuer>) =>
    Errors.refuseRole(userProblem(bounds, ...all.flatMap(Rules.rolesOf)))

  const check = Effect.fnUntraced(function* (issuer: Issuer) {
    yield* Errors.refuseOne(Rules.settingsProblem(people.directory(), issuer))
    yield* Errors.refuseOne(addressProblem("issuer", issuer.issuer, flags.isOn))
  })

  const endSessions = (id: string) => sessions.closeThose(({ issuerId }) => issuerId === id)
  const checkScim = Effect.fnUntraced(function* ({ id, scim }: Issuer) {
    const other = scim === null ? undefined : (yield* repo.list).find((one) => one.id !== id && one.scim !== null)
    if (other !== undefined) {
      return yield* Errors.conflict(`The issuer '${other.name}' has 'scim' already: one issuer has it at most.`, "scim")
    }
  })
  const nameTaken = (name: string) => () => Errors.nameTaken("an issuer", name)

  const create = Effect.fn("Issuers.create")(function* (input: CreateIssuer, bounds: Bounds | null = null) {
    const nowMs = yield* Clock.currentTimeMillis
    const issuer: Issuer = {
      ...Rules.settingsOf(input),
      id: ids.next(nowMs),
      createdAtMs: nowMs,
      updatedAtMs: nowMs
    }
    yield* checkRoles(bounds, issuer)
    yield* check(issuer)
    yield* checkScim(issuer)
    if ((yield* repo.list).length >= maxIssuers) return yield* Errors.tooMany(maxIssuers, "issuers")
    yield* Effect.catchTag(repo.insert(issuer), "AlreadyStored", nameTaken(issuer.name))
    return { ...issuer, locked: false }
  }, oneAtATime)

  const update = Effect.fn("Issuers.update")(function* (id: string, input: UpdateIssuer, bounds: Bounds | null = null) {
    const before = yield* get(id)
    // Two changes within a millisecond are two states.
    const updatedAtMs = Math.max(yield* Clock.currentTimeMillis, before.updatedAtMs + 1)
    const after = { ...Rules.changed(before, input), updatedAtMs }
    yield* checkRoles(bounds, before, after)
    yield* check(after)
    yield* checkScim(after)
    yield* Errors.refuseOne(Rules.moveProblem(before, after))
    yield* Effect.catchTag(repo.update(after), "AlreadyStored", nameTaken(after.name))
    if (!after.isEnabled) yield* endSessions(id)
    return yield* get(id)
  }, oneAtATime)

  const remove = Effect.fn("Issuers.remove")(function* (id: string, bounds: Bounds | null = null) {
    yield* checkRoles(bounds, yield* get(id))
    yield* repo.remove(id)
    yield* endSessions(id)
  }, oneAtATime)

  const test = Effect.fn("Issuers.test")(function* (id: string) {
    const issuer = yield* get(id)
    if (issuer.locked) {
      const problems = ["The secret of its client cannot be read with the present master key: set it again."]
      return { problems, endSession: false }
    }
    const nowMs = yield* Clock.currentTimeMillis
    return yield* Effect.match(
      Effect.flatMap(open(issuer, nowMs, true), (client) => inspect(issuer, client)),
      {
        onFailure: ({ message }): IssuerReport => ({ problems: [message], endSession: false }),
        onSuccess: (report) => report
      }
    )
  })

  return Issuers.of({ list: Effect.withSpan(repo.list, "Issuers.list"), get, create, update, remove, test })
})

export const layer: Layer.Layer<Issuers, never, Flags | IdGen | IssuerRepo | People | Sessions | Upstream> =
  Layer.effect(Issuers, make)
