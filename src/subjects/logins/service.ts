/**
 * Logins of people at the command line: a machine asks, a person allows it in a browser where the person is signed in, and the machine gets a session of the
 * person, once. What waits is in the database, so that any gateway on it can answer.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import type { StoreError } from "../../store/Errors.ts"
import type { Session } from "../auth/entity.ts"
import { hashKey } from "../auth/KeyFormat.ts"
import * as LoginThrottle from "../auth/LoginThrottle.ts"
import { type Login, Sessions } from "../auth/sessions/Sessions.ts"
import * as Errors from "../Errors.ts"
import { Issuers } from "../issuers/service.ts"
import { People } from "../people/People.ts"
import type { User } from "../users/entity.ts"
import {
  intervalMs,
  lifetimeMs,
  type LoginRequest,
  type LoginWay,
  maxOfPerson,
  maxWaiting,
  maxWaitingOfAddress
} from "./entity.ts"
import { LoginRepo } from "./repo.ts"
import * as Rules from "./rules.ts"

/** Error of too many questions for logins that are not there, or of too many that wait. */
export class TooManyAsked extends Data.TaggedError("TooManyAsked")<{ readonly retryAfterMs: number }> {}

/** Error of a code that is of no login that waits, or that this session was not shown. It does not say which. */
export class NoSuchLogin extends Data.TaggedError("NoSuchLogin") {}

export interface Beginning {
  readonly way: LoginWay
  readonly machine: string
  /** Peer address of the socket; empty: not known. */
  readonly address: string
  /** Of the way `browser`; null: of the other. */
  readonly back: { readonly port: number; readonly challenge: string; readonly state: string } | null
}

export interface Begun {
  /** Secret that the command line asks with. */
  readonly secret: Redacted.Redacted
  /** Code for the person's page: typed by the person, or in its address. */
  readonly code: string
  readonly expiresAtMs: number
  readonly intervalMs: number
}

export interface Question {
  readonly secret: Redacted.Redacted
  /** Code that the browser has brought back, with the verifier; null: nothing yet. */
  readonly proof: { readonly grant: string; readonly verifier: string } | null
  readonly address: string
}

export type Reply =
  | { readonly _tag: "Pending" | "SlowDown"; readonly intervalMs: number }
  | { readonly _tag: "Over"; readonly reason: "expired" | "denied" | "mismatch" }
  | { readonly _tag: "LoggedIn"; readonly login: Login; readonly user: User }

export class Logins extends Context.Tag("gateway/subjects/logins/Logins")<
  Logins,
  {
    /** Fails with a conflict where no issuer signs people in. */
    readonly begin: (beginning: Beginning) => Effect.Effect<Begun, TooManyAsked | Errors.StateConflict | StoreError>
    readonly ask: (question: Question) => Effect.Effect<Reply, TooManyAsked | StoreError>
    /** Shows a person's session what asks. */
    readonly look: (
      code: string,
      by: Rules.Answerer
    ) => Effect.Effect<LoginRequest, TooManyAsked | NoSuchLogin | StoreError>
    /** Returns the address that the browser goes back to; null: it stays. */
    readonly answer: (
      code: string,
      allow: boolean,
      by: Rules.Answerer
    ) => Effect.Effect<string | null, TooManyAsked | NoSuchLogin | StoreError>
  }
>() {}

const noIssuer = Errors.conflict(
  "No directory signs people in to this gateway: an administrator adds one with 'gateway issuers add'. A key logs in without one: 'gateway login <url>'."
)

const secretOf = (): string => randomBytes(32).toString("base64url")

interface Deps {
  readonly issuers: typeof Issuers.Service
  readonly people: typeof People.Service
  readonly repo: typeof LoginRepo.Service
  readonly sessions: typeof Sessions.Service
  /** Tries of addresses to ask for what is not there. */
  readonly asking: Throttle
  /** Tries of people to type a code. */
  readonly typing: Throttle
}

interface Throttle {
  readonly take: (of: string) => Effect.Effect<void, TooManyAsked>
  readonly giveBack: (of: string) => void
}

const makeThrottle = Effect.map(Clock.currentTimeMillis, (startMs): Throttle => {
  let state = LoginThrottle.initial(startMs)
  return {
    take: Effect.fnUntraced(function* (of: string) {
      const taken = LoginThrottle.take(state, of, yield* Clock.currentTimeMillis)
      if (taken.retryAfterMs > 0) return yield* new TooManyAsked({ retryAfterMs: taken.retryAfterMs })
      state = taken.state
    }),
    giveBack: (of) => {
      state = LoginThrottle.giveBack(state, of)
    }
  }
})

const begin = Effect.fn("Logins.begin")(function* (deps: Deps, { address, back, machine, way }: Beginning) {
  const { issuers, repo } = deps
  if (!(yield* issuers.list).some(({ isEnabled }) => isEnabled)) return yield* noIssuer
  const nowMs = yield* Clock.currentTimeMillis
  yield* repo.removeExpired(nowMs)
  const { all, own } = yield* repo.waiting(address)
  if (all >= maxWaiting || own >= maxWaitingOfAddress) return yield* new TooManyAsked({ retryAfterMs: 60_000 })
  const secret = secretOf()
  const code = way === "device" ? Rules.makeUserCode() : secretOf()
  const request: LoginRequest = {
    idHash: hashKey(secret),
    codeHash: hashKey(code),
    way,
    state: "asked",
    machine,
    address,
    port: back?.port ?? null,
    challenge: back?.challenge ?? null,
    clientState: back?.state ?? null,
    grantHash: null,
    shownTo: null,
    userId: null,
    issuerId: null,
    intervalMs,
    polledAtMs: null,
    createdAtMs: nowMs,
    expiresAtMs: nowMs + lifetimeMs
  }
  // Two equal codes at once are less likely than a failing disk; who asks again gets another.
  yield* Effect.catchTag(repo.insert(request), "AlreadyStored", () => new TooManyAsked({ retryAfterMs: 1_000 }))
  return { secret: Redacted.make(secret), code, expiresAtMs: request.expiresAtMs, intervalMs } satisfies Begun
})

/** The login that a person's session asks about. Each question is a try: codes are short enough to be guessed otherwise. */
const found = Effect.fnUntraced(function* ({ repo, typing }: Deps, code: string, { userId }: Rules.Answerer) {
  yield* typing.take(userId)
  return (yield* repo.byCode(hashKey(Rules.readCode(code)))) ?? (yield* new NoSuchLogin())
})

const look = Effect.fn("Logins.look")(function* (deps: Deps, code: string, by: Rules.Answerer) {
  const request = yield* found(deps, code, by)
  const event = { _tag: "Shown", sessionId: by.sessionId } as const
  const step = Rules.stepOf(request, event, yield* Clock.currentTimeMillis)
  if (step._tag !== "Wait" || !(yield* deps.repo.change(request.state, step.next))) return yield* new NoSuchLogin()
  return step.next
})

const answer = Effect.fn("Logins.answer")(function* (deps: Deps, code: string, allow: boolean, by: Rules.Answerer) {
  const request = yield* found(deps, code, by)
  const grant = allow && request.way === "browser" ? secretOf() : null
  const event: Rules.LoginEvent = allow
    ? { _tag: "Allowed", by, grantHash: grant === null ? null : hashKey(grant) }
    : { _tag: "Denied", by }
  const step = Rules.stepOf(request, event, yield* Clock.currentTimeMillis)
  if (step._tag !== "Wait" || !(yield* deps.repo.change(request.state, step.next))) return yield* new NoSuchLogin()
  // What the session was shown is no guess.
  deps.typing.giveBack(by.userId)
  return Rules.redirectOf(request, grant === null ? { error: "access_denied" } : { code: grant })
})

/** Ends the oldest logins of a person at the command line, so that one more has its place. */
const makeRoom = Effect.fnUntraced(function* ({ sessions }: Deps, userId: string) {
  const isOwn = (session: Session): boolean => session.via === "commandLine" && session.userId === userId
  const own = sessions.list(yield* Clock.currentTimeMillis).filter(isOwn)
  const oldest = own.toSorted((a, b) => b.createdAtMs - a.createdAtMs).slice(maxOfPerson - 1)
  yield* Effect.forEach(oldest, ({ idHash }) => sessions.close(idHash), { discard: true })
})

const over = (reason: "expired" | "denied" | "mismatch"): Reply => ({ _tag: "Over", reason })

/** Gives the credential, once: who takes the row gives it. A person or an issuer that went meanwhile gets none. */
const give = Effect.fnUntraced(function* (
  deps: Deps,
  request: LoginRequest,
  { issuerId, userId }: Extract<Rules.LoginStep, { _tag: "Give" }>,
  address: string
) {
  const { issuers, people, repo, sessions } = deps
  if (!(yield* repo.take(request.idHash, request.state))) return over("expired")
  const user = people.directory().users.get(userId)
  if (user === undefined || user.state === "suspended") return over("denied")
  const isSigningIn = (yield* issuers.list).some(({ id, isEnabled }) => id === issuerId && isEnabled)
  if (issuerId !== null && !isSigningIn) return over("denied")
  yield* makeRoom(deps, userId)
  const origin = { via: "commandLine", address, userAgent: request.machine } as const
  return { _tag: "LoggedIn", user, login: yield* sessions.open(origin, { userId, issuerId }) } satisfies Reply
})

const ask = Effect.fn("Logins.ask")(function* (deps: Deps, { address, proof, secret }: Question) {
  const { asking, repo } = deps
  yield* asking.take(address)
  const request = yield* repo.get(hashKey(Redacted.value(secret)))
  // One that has expired is removed by the next that begins, so that both are answered alike.
  if (request === null) return over("expired")
  asking.giveBack(address)
  const step = Rules.stepOf(request, { _tag: "Polled", proof }, yield* Clock.currentTimeMillis)
  switch (step._tag) {
    case "Wait":
    case "SlowDown": {
      yield* repo.change(request.state, step.next)
      const { intervalMs } = step.next
      return { _tag: step._tag === "Wait" ? "Pending" : "SlowDown", intervalMs } satisfies Reply
    }
    case "Over":
      yield* repo.remove(request.idHash)
      return over(step.reason)
    case "Refused":
      return over("expired")
    case "Give":
      return yield* give(deps, request, step, address)
  }
})

export const make = Effect.gen(function* () {
  const deps: Deps = {
    issuers: yield* Issuers,
    people: yield* People,
    repo: yield* LoginRepo,
    sessions: yield* Sessions,
    asking: yield* makeThrottle,
    typing: yield* makeThrottle
  }
  return Logins.of({
    begin: (beginning) => begin(deps, beginning),
    ask: (question) => ask(deps, question),
    look: (code, by) => look(deps, code, by),
    answer: (code, allow, by) => answer(deps, code, allow, by)
  })
})

export const layer: Layer.Layer<Logins, never, Issuers | LoginRepo | People | Sessions> = Layer.effect(Logins, make)
