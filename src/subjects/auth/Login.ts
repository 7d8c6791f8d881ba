/** Logging in: throttle, password, new session, in this order. Every question for the password passes the same throttle. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { randomBytes } from "node:crypto"
import type { StoreError } from "../../store/Errors.ts"
import { AdminPassword } from "./AdminPassword.ts"
import type { SessionWay } from "./entity.ts"
import { hashKey } from "./KeyFormat.ts"
import * as LoginThrottle from "./LoginThrottle.ts"
import * as OneTimeCodes from "./sessions/OneTimeCodes.ts"
import { Sessions } from "./sessions/Sessions.ts"
import type * as SessionsModule from "./sessions/Sessions.ts"

export class TooManyLogins extends Data.TaggedError("TooManyLogins")<{ readonly retryAfterMs: number }> {}
export class WrongPassword extends Data.TaggedError("WrongPassword") {}
/** No admin password was ever set. */
export class NoAdminPassword extends Data.TaggedError("NoAdminPassword") {}

/** The code was used, has ended, or never was. */
export class WrongCode extends Data.TaggedError("WrongCode") {}

interface Attempt {
  /** Peer address of the socket. */
  readonly address: string
  /** `User-Agent` of the request; empty: none. */
  readonly userAgent: string
  /** The session cookie that came with the request; its session ends when the login succeeds. */
  readonly formerCookie: string | null
}

export interface LoginAttempt extends Attempt {
  readonly password: Redacted.Redacted
}

export interface CodeAttempt extends Attempt {
  readonly code: Redacted.Redacted
}

export interface OneTimeCode {
  readonly code: Redacted.Redacted
  readonly expiresAtMs: number
}

export interface PasswordChange {
  /** Null where none is set yet. */
  readonly current: Redacted.Redacted | null
  readonly next: Redacted.Redacted
  /** Peer address of the socket. */
  readonly address: string
  /** The session that asks for it, and goes on; the others end. Null: all end. */
  readonly sessionId: string | null
}

type Refused = TooManyLogins | WrongPassword | NoAdminPassword | StoreError

export class Login extends Context.Tag("gateway/subjects/auth/Login")<
  Login,
  {
    readonly logIn: (attempt: LoginAttempt) => Effect.Effect<SessionsModule.Login, Refused>
    /** Makes a code for one session, for the owner of the data folder. */
    readonly issueCode: Effect.Effect<OneTimeCode>
    /** Opens the session of a code. Wrong ones count as wrong passwords do. */
    readonly logInByCode: (
      attempt: CodeAttempt
    ) => Effect.Effect<SessionsModule.Login, TooManyLogins | WrongCode | StoreError>
    /** Sets another password, when the present one is right, or the first one. */
    readonly changePassword: (change: PasswordChange) => Effect.Effect<void, Refused>
    /** Lists the addresses that have to wait before another try, and `*` while all together have tried too often. */
    readonly locked: Effect.Effect<ReadonlyArray<string>>
    /** Lets one of them try again at once; null: all. */
    readonly unlock: (identifier: string | null) => Effect.Effect<void>
    /** Ends the session a cookie names; nothing happens when there is none. */
    readonly logOut: (cookie: string) => Effect.Effect<void, StoreError>
  }
>() {}

export const make = Effect.gen(function* () {
  const password = yield* AdminPassword
  const sessions = yield* Sessions
  let throttle = LoginThrottle.initial(yield* Clock.currentTimeMillis)

  const logOut = Effect.fn("Login.logOut")(function* (cookie: string) {
    const nowMs = yield* Clock.currentTimeMillis
    const id = sessions.find(cookie, nowMs)
    if (id !== null) yield* sessions.close(id)
  })

  let codes = OneTimeCodes.none

  /** One try of an address. */
  const takeTry = Effect.fnUntraced(function* (address: string) {
    const taken = LoginThrottle.take(throttle, address, yield* Clock.currentTimeMillis)
    if (taken.retryAfterMs > 0) return yield* new TooManyLogins({ retryAfterMs: taken.retryAfterMs })
    throttle = taken.state
  })

  const prove = Effect.fnUntraced(function* (given: Redacted.Redacted, address: string) {
    yield* takeTry(address)
    const isRight = yield* password.verify(given)
    if (!isRight) return yield* password.isSet() ? new WrongPassword() : new NoAdminPassword()
    throttle = LoginThrottle.succeed(throttle, address)
  })

  const changePassword = Effect.fn("Login.changePassword")(function* (change: PasswordChange) {
    if (change.current !== null) yield* prove(change.current, change.address)
    else if (password.isSet()) return yield* new WrongPassword()
    yield* password.set(change.next, change.sessionId)
  })

  const locked = Effect.map(Clock.currentTimeMillis, (nowMs) => LoginThrottle.locked(throttle, nowMs))

  const unlock = Effect.fn("Login.unlock")((identifier: string | null) =>
    Effect.map(Clock.currentTimeMillis, (nowMs) => {
      throttle = identifier === null ? LoginThrottle.initial(nowMs) : LoginThrottle.unlock(throttle, identifier, nowMs)
    })
  )

  const opened = Effect.fnUntraced(function* ({ address, formerCookie, userAgent }: Attempt, via: SessionWay) {
    if (formerCookie !== null) yield* logOut(formerCookie)
    return yield* sessions.open({ via, address, userAgent })
  })

  const logIn = Effect.fn("Login.logIn")(function* (attempt: LoginAttempt) {
    yield* prove(attempt.password, attempt.address)
    return yield* opened(attempt, "password")
  })

  const issueCode = Effect.map(Clock.currentTimeMillis, (nowMs): OneTimeCode => {
    const code = randomBytes(32).toString("base64url")
    codes = OneTimeCodes.issue(codes, hashKey(code), nowMs)
    return { code: Redacted.make(code), expiresAtMs: nowMs + OneTimeCodes.codeLivesMs }
  }).pipe(Effect.withSpan("Login.issueCode"))

  const logInByCode = Effect.fn("Login.logInByCode")(function* (attempt: CodeAttempt) {
    yield* takeTry(attempt.address)
    const nowMs = yield* Clock.currentTimeMillis
    const redeemed = OneTimeCodes.redeem(codes, hashKey(Redacted.value(attempt.code)), nowMs)
    codes = redeemed.codes
    if (!redeemed.isGood) return yield* new WrongCode()
    throttle = LoginThrottle.succeed(throttle, attempt.address)
    return yield* opened(attempt, "code")
  })
  return Login.of({ logIn, issueCode, logInByCode, logOut, changePassword, locked, unlock })
})

export const layer: Layer.Layer<Login, never, AdminPassword | Sessions> = Layer.effect(Login, make)
