/** Logging in: throttle, password, new session, in this order. Every question for the password passes the same throttle. */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import type { StoreError } from "../../store/Errors.ts"
import { AdminPassword } from "./AdminPassword.ts"
import * as LoginThrottle from "./LoginThrottle.ts"
import { Sessions } from "./Sessions.ts"
import type * as SessionsModule from "./Sessions.ts"

export class TooManyLogins extends Data.TaggedError("TooManyLogins")<{ readonly retryAfterMs: number }> {}
export class WrongPassword extends Data.TaggedError("WrongPassword") {}
/** No admin password was ever set. */
export class NoAdminPassword extends Data.TaggedError("NoAdminPassword") {}

export interface LoginAttempt {
  readonly password: Redacted.Redacted
  /** Peer address of the socket. */
  readonly address: string
  /** The session cookie that came with the request; its session ends when the login succeeds. */
  readonly formerCookie: string | null
}

export interface PasswordChange {
  readonly current: Redacted.Redacted
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
    /** Sets another password, when the present one is right. */
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

  const prove = Effect.fnUntraced(function* (given: Redacted.Redacted, address: string) {
    const taken = LoginThrottle.take(throttle, address, yield* Clock.currentTimeMillis)
    if (taken.retryAfterMs > 0) return yield* new TooManyLogins({ retryAfterMs: taken.retryAfterMs })
    throttle = taken.state
    const isRight = yield* password.verify(given)
    if (!isRight) return yield* password.isSet() ? new WrongPassword() : new NoAdminPassword()
    throttle = LoginThrottle.succeed(throttle, address)
  })

  const changePassword = Effect.fn("Login.changePassword")(function* (change: PasswordChange) {
    yield* prove(change.current, change.address)
    yield* password.set(change.next, change.sessionId)
  })

  const locked = Effect.map(Clock.currentTimeMillis, (nowMs) => LoginThrottle.locked(throttle, nowMs))

  const unlock = Effect.fn("Login.unlock")((identifier: string | null) =>
    Effect.map(Clock.currentTimeMillis, (nowMs) => {
      throttle = identifier === null ? LoginThrottle.initial(nowMs) : LoginThrottle.unlock(throttle, identifier, nowMs)
    })
  )

  const logIn = Effect.fn("Login.logIn")(function* (attempt: LoginAttempt) {
    yield* prove(attempt.password, attempt.address)
    if (attempt.formerCookie !== null) yield* logOut(attempt.formerCookie)
    return yield* sessions.open
  })
  return Login.of({ logIn, logOut, changePassword, locked, unlock })
})

export const layer: Layer.Layer<Login, never, AdminPassword | Sessions> = Layer.effect(Login, make)
