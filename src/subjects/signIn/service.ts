/**
 * Sign-in of people by an issuer: authorization code with PKCE, state and nonce. A way back is bound to the browser that began it, lasts ten minutes and is
 * used once. A person is who the issuer says by its own id (`sub`), never by an e-mail address.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { createHash, randomBytes } from "node:crypto"
import { makeLane } from "../../kernel/Lane.ts"
import { Upstream } from "../../net/egress/Upstream.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { Replica, type ReplicaShape } from "../../plane/state/Replica.ts"
import { KeyChanges } from "../../plane/ledger/KeyChanges.ts"
import { type AlreadyStored, StoreError } from "../../store/Errors.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as LoginThrottle from "../auth/LoginThrottle.ts"
import { Sessions } from "../auth/sessions/Sessions.ts"
import type { Login } from "../auth/sessions/Sessions.ts"
import * as Errors from "../Errors.ts"
import { type IssuerFailed, makeIssuerClients, step } from "../issuers/IssuerClient.ts"
import type { StoredIssuer } from "../issuers/repo.ts"
import { Issuers } from "../issuers/service.ts"
import { type DirectoryChange, People } from "../people/People.ts"
import { maxUsers, type User } from "../users/entity.ts"
import { type Claims, type Identity, identityOf, isRefusal, movedTeams, roleAt } from "./Identity.ts"
import { groupsOf, pushedPerson } from "./Pushed.ts"
import { readClaims } from "./ReadClaims.ts"
import * as StateCookie from "./StateCookie.ts"

/** Error of a sign-in that is over, was used, or was begun by another browser or not at all. */
export class NotBegun extends Data.TaggedError("NotBegun") {}

/** Error of a person who may not sign in; `message` is a sentence. */
export class NotLetIn extends Data.TaggedError("NotLetIn")<{ readonly message: string }> {}

export class TooManySignIns extends Data.TaggedError("TooManySignIns")<{ readonly retryAfterMs: number }> {}

export interface Beginning {
  readonly issuerId: string
  /** Peer address of the socket. */
  readonly address: string
  /** Address at which the issuer sends the browser back. */
  readonly redirectUri: string
  /** Code of the login at the command line that the person came for, empty where it is typed; null: none. */
  readonly waitingLogin: string | null
}

export interface Arrival {
  readonly issuerId: string
  readonly address: string
  /** Query that the browser came back with. */
  readonly search: string
  readonly state: string
  /** Value of the cookie of the sign-in; null: none came. */
  readonly cookie: string | null
  readonly userAgent: string
  /** The session cookie that came with the request; its session ends. */
  readonly formerCookie: string | null
}

export interface SignedIn {
  readonly login: Login
  readonly user: User
  /** As the sign-in was begun with. */
  readonly waitingLogin: string | null
}

type Refused = Errors.EntityNotFound | IssuerFailed | TooManySignIns | StoreError

export class SignIn extends Context.Tag("gateway/subjects/signIn/SignIn")<
  SignIn,
  {
    /** Enabled issuers, by name. */
    readonly offered: Effect.Effect<ReadonlyArray<StoredIssuer>, StoreError>
    /** Returns the address at the issuer, and the value of the cookie that the browser comes back with. */
    readonly begin: (beginning: Beginning) => Effect.Effect<{ readonly url: string; readonly cookie: string }, Refused>
    readonly arrive: (arrival: Arrival) => Effect.Effect<SignedIn, Refused | NotBegun | NotLetIn>
    /** Returns the address at which the issuer ends its own session; null: it has none, or cannot be asked. */
    readonly logoutUrl: (issuerId: string) => Effect.Effect<string | null, StoreError>
  }
>() {}

/** Used states that are remembered; within their lifetime the throttle lets fewer through. */
const maxUsed = 4_096

interface UsedStates {
  readonly has: (state: string, nowMs: number) => boolean
  readonly add: (state: string, untilMs: number) => void
}

const digestOf = (state: string): string => createHash("sha256").update(state).digest("base64url")

/** States of sign-ins that have come back, by their hash; gateways on the same database hear of them. */
const makeUsedStates = ({ shared }: ReplicaShape): UsedStates => {
  const used = new Map<string, number>()
  const add = shared("signIn.used", (digest: string, untilMs: number): void => {
    used.delete(digest)
    used.set(digest, untilMs)
    for (const oldest of used.keys()) {
      if (used.size <= maxUsed) break
      used.delete(oldest)
    }
  })
  return {
    has: (state, nowMs) => (used.get(digestOf(state)) ?? 0) > nowMs,
    add: (state, untilMs) => add(digestOf(state), untilMs)
  }
}

const services = Effect.all({
  changes: KeyChanges,
  ids: IdGen,
  issuers: Issuers,
  people: People,
  secrets: Secrets,
  sessions: Sessions,
  upstream: Upstream
})

interface Deps extends Effect.Effect.Success<typeof services> {
  readonly open: Effect.Effect.Success<ReturnType<typeof makeIssuerClients>>
  readonly takeTry: (address: string) => Effect.Effect<void, TooManySignIns>
  readonly succeed: (address: string) => void
  readonly used: UsedStates
}

const enabled = Effect.fnUntraced(function* ({ issuers }: Deps, id: string) {
  const issuer = yield* issuers.get(id)
  return issuer.isEnabled ? issuer : yield* new Errors.EntityNotFound({ entity: "issuer", id })
})

const begin = Effect.fn("SignIn.begin")(function* (
  deps: Deps,
  { address, issuerId, redirectUri, waitingLogin }: Beginning
) {
  yield* deps.takeTry(address)
  const issuer = yield* enabled(deps, issuerId)
  const nowMs = yield* Clock.currentTimeMillis
  const { configuration, library } = yield* deps.open(issuer, nowMs)
  const secret = (): string => randomBytes(32).toString("base64url")
  const pending: StateCookie.Pending = {
    issuerId,
    state: secret(),
    nonce: secret(),
    verifier: secret(),
    redirectUri,
    waitingLogin,
    expiresAtMs: nowMs + StateCookie.lifetimeMs
  }
  const url = yield* step(async () =>
    library.buildAuthorizationUrl(configuration, {
      redirect_uri: redirectUri,
      scope: issuer.scopes.join(" "),
      state: pending.state,
      ...(issuer.kind === "github" ? {} : { nonce: pending.nonce }),
      code_challenge: await library.calculatePKCECodeChallenge(pending.verifier),
      code_challenge_method: "S256"
    })
  )
  return { url: url.href, cookie: StateCookie.seal(deps.secrets, pending) }
})

/** Returns the sign-in that is under way, and marks it as used, also where it fails afterwards. */
const pendingOf = Effect.fnUntraced(function* ({ secrets, used }: Deps, { cookie, issuerId, state }: Arrival) {
  const nowMs = yield* Clock.currentTimeMillis
  const pending = StateCookie.open(secrets, issuerId, cookie, nowMs)
  if (pending === null || pending.state !== state || used.has(state, nowMs)) return yield* new NotBegun()
  used.add(state, pending.expiresAtMs)
  return pending
})

/** Another gateway on the same database signs the same person in at this moment. */
const atOnce = (cause: AlreadyStored) => new StoreError({ operation: "SignIn.person", cause })

const suspended = new NotLetIn({ message: "This person is suspended here. Ask an administrator." })
const noRole = new NotLetIn({ message: "None of the groups of this account has a role here. Ask an administrator." })

/** A pushed person, once the account is tied to it; null: none is pushed. */
interface Tied {
  readonly user: User | null
  /** Nothing had to be changed. */
  readonly isSame: boolean
}

/**
 * Finds the person that the directory has pushed. A sign-in ties the account to it and changes nothing else that the directory says. Null: the
 * issuer's directory pushes nobody.
 */
const pushedOf = Effect.fnUntraced(function* (deps: Deps, issuer: StoredIssuer, identity: Identity, claims: Claims) {
  const { changes, people } = deps
  const nowMs = yield* Clock.currentTimeMillis
  const { isSame, user } = yield* people
    .change(({ teams, users }): Effect.Effect<readonly [DirectoryChange, Tied], NotLetIn> =>
      Effect.gen(function* () {
        const found = pushedPerson(issuer, { ...identity, claims }, users.values())
        if (found === null) return [{}, { user: null, isSame: true }] as const
        if (isRefusal(found)) return yield* new NotLetIn({ message: found.refused })
        if (found.state === "suspended") return yield* suspended
        const groups = groupsOf(teams.values(), found.id)
        const role = issuer.scim === null ? found.role : roleAt(issuer, { groups }, found)
        if (role === null) return yield* noRole
        const user: User = { ...found, issuer: identity.issuer, subject: identity.subject, role }
        const isSame = found.issuer !== null && found.role === role
        return [isSame ? {} : { users: [{ ...user, updatedAtMs: nowMs }] }, { user, isSame }] as const
      })
    )
    .pipe(Effect.catchTag("AlreadyStored", atOnce))
  if (!isSame) yield* changes.ownersChanged
  return user
})

/** Makes or changes the person, as the issuer says. */
const personOf = Effect.fnUntraced(function* (deps: Deps, issuer: StoredIssuer, identity: Identity) {
  const { changes, ids, people } = deps
  const { teams, users } = people.directory()
  const { email, name, subject } = identity
  const before = [...users.values()].find((user) => user.issuer === identity.issuer && user.subject === subject) ?? null
  if (before?.state === "suspended") return yield* suspended
  const role = roleAt(issuer, identity, before)
  if (role === null) return yield* noRole
  if (before === null && users.size >= maxUsers) {
    return yield* new NotLetIn({ message: `There are ${maxUsers} people already, the limit.` })
  }
  const nowMs = yield* Clock.currentTimeMillis
  const made = {
    id: ids.next(nowMs),
    state: "active",
    budget: null,
    limits: null,
    createdAtMs: nowMs,
    updatedAtMs: nowMs,
    userName: null,
    provisioned: null
  } as const
  const user: User = { ...(before ?? made), name, email, role, issuer: identity.issuer, subject, source: "oidc" }
  const moved = movedTeams(issuer, identity, user.id, teams)
  const isSame = before !== null && before.name === name && before.email === email && before.role === role
  if (!isSame) yield* Effect.catchTag(people.putUser({ ...user, updatedAtMs: nowMs }), "AlreadyStored", atOnce)
  for (const team of moved) {
    yield* Effect.catchTag(people.putTeam({ ...team, updatedAtMs: nowMs }), "AlreadyStored", atOnce)
  }
  if (!isSame || moved.length > 0) yield* changes.ownersChanged
  return people.directory().users.get(user.id) ?? user
})

const arrive = Effect.fn("SignIn.arrive")(function* (
  deps: Deps,
  arrival: Arrival,
  inTurn: <A, E>(work: Effect.Effect<A, E>) => Effect.Effect<A, E>
) {
  const { sessions } = deps
  const { address, formerCookie, issuerId, search, userAgent } = arrival
  yield* deps.takeTry(address)
  const issuer = yield* enabled(deps, issuerId)
  const pending = yield* pendingOf(deps, arrival)
  const nowMs = yield* Clock.currentTimeMillis
  const { claims, issuer: identifier } = yield* readClaims(yield* deps.open(issuer, nowMs), issuer, pending, search)
  const identity = identityOf(issuer, identifier, claims)
  if (isRefusal(identity)) return yield* new NotLetIn({ message: identity.refused })
  const user = yield* inTurn(
    Effect.flatMap(pushedOf(deps, issuer, identity, claims), (pushed) =>
      pushed === null ? personOf(deps, issuer, identity) : Effect.succeed(pushed)
    )
  )
  deps.succeed(address)
  const former = formerCookie === null ? null : sessions.find(formerCookie, nowMs)
  if (former !== null) yield* sessions.close(former)
  const login = yield* sessions.open({ via: "issuer", address, userAgent }, { userId: user.id, issuerId })
  return { user, login, waitingLogin: pending.waitingLogin }
})

const logoutUrl = Effect.fn("SignIn.logoutUrl")(function* (deps: Deps, id: string) {
  const issuer = yield* Effect.catchTag(deps.issuers.get(id), "EntityNotFound", () => Effect.succeed(null))
  if (issuer === null) return null
  const asked = deps.open(issuer, yield* Clock.currentTimeMillis)
  return yield* asked.pipe(
    Effect.map(({ configuration, library }) =>
      configuration.serverMetadata().end_session_endpoint === undefined
        ? null
        : library.buildEndSessionUrl(configuration, { client_id: issuer.clientId }).href
    ),
    Effect.catchAll(() => Effect.succeed(null))
  )
})

export const make = Effect.gen(function* () {
  const all = yield* services
  const open = yield* makeIssuerClients(all.upstream)
  const { inTurn } = makeLane(1)
  let throttle = LoginThrottle.initial(yield* Clock.currentTimeMillis)
  const takeTry = Effect.fnUntraced(function* (address: string) {
    const taken = LoginThrottle.take(throttle, address, yield* Clock.currentTimeMillis)
    if (taken.retryAfterMs > 0) return yield* new TooManySignIns({ retryAfterMs: taken.retryAfterMs })
    throttle = taken.state
  })
  const succeed = (address: string): void => {
    throttle = LoginThrottle.succeed(throttle, address)
  }
  const deps: Deps = { ...all, open, takeTry, succeed, used: makeUsedStates(yield* Replica) }
  return SignIn.of({
    offered: Effect.map(all.issuers.list, (found) =>
      found.filter(({ isEnabled }) => isEnabled).toSorted((a, b) => a.name.localeCompare(b.name))
    ),
    begin: (beginning) => begin(deps, beginning),
    arrive: (arrival) => arrive(deps, arrival, inTurn),
    logoutUrl: (id) => logoutUrl(deps, id)
  })
})

export const layer: Layer.Layer<SignIn, never, IdGen | Issuers | KeyChanges | People | Secrets | Sessions | Upstream> =
  Layer.effect(SignIn, make)
