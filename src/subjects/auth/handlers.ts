/** `/api/auth`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import type * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { CurrentIdentity } from "../../contract/Security.ts"
import { meOf, sessionName } from "./Me.ts"
import { contractOf } from "../../contract/GroupContract.ts"
import { Auth } from "./routes.ts"
import { Forbidden, NotFound, TooManyRequests, Unauthorized } from "../../contract/Errors.ts"
import { AdminPassword } from "./AdminPassword.ts"
import { headerOf } from "./Credentials.ts"
import type { RequestHeaders } from "./Credentials.ts"
import type { Session } from "./entity.ts"
import { csrfTokenOf, isCrossSite } from "./Csrf.ts"
import { endsOf } from "./PeerAddress.ts"
import { Login, type TooManyLogins } from "./Login.ts"
import { cookieOf, endedCookies, newCookie } from "./sessions/SessionCookie.ts"
import { sessionCredentialOf } from "./sessions/SessionCredential.ts"
import { absoluteMs, type Login as LoggedIn, Sessions } from "./sessions/Sessions.ts"
import { clientAddress } from "../../entry/listening/ClientAddress.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { iso } from "../../entry/handling/Views.ts"
import { isOwnUser, userOfPeer } from "../../platform/PeerUser.ts"

const passwordRefusals = {
  TooManyLogins: ({ retryAfterMs }: TooManyLogins) =>
    new TooManyRequests({ message: "Too many logins were tried. Wait a little.", retryAfterMs }),
  NoAdminPassword: () =>
    new Unauthorized({
      message: "No admin password is set. Run 'gateway setup', or start the gateway with GATEWAY_ADMIN_PASSWORD.",
      code: "admin_not_configured"
    })
}

const nameOf = ({ idHash }: Pick<Session, "idHash">): string => sessionName(idHash)

const sessionView = (session: Session, currentId: string | null) => ({
  id: nameOf(session),
  userId: session.userId,
  current: session.idHash === currentId,
  via: session.via,
  address: session.address,
  userAgent: session.userAgent,
  createdAt: iso(session.createdAtMs),
  lastSeenAt: iso(session.lastSeenAtMs),
  expiresAt: iso(session.expiresAtMs)
})

/** Answers a login: the token for scripts of the page, and the cookie. */
const loggedIn = ({ cookie, csrfToken, expiresAtMs }: LoggedIn, headers: RequestHeaders) =>
  Effect.map(Effect.orDie(HttpServerResponse.json({ csrfToken, expiresAt: iso(expiresAtMs) })), (response) => {
    const { name, options } = newCookie(headers)
    return HttpServerResponse.unsafeSetCookie(response, name, Redacted.value(cookie), {
      ...options,
      maxAge: absoluteMs
    })
  })

const wrongPassword = (param: string) => () =>
  new Unauthorized({ message: "The password is wrong.", code: "invalid_password", param })

const wrongCode = () =>
  new Unauthorized({
    message: "The code was used already, or a minute is over. Make another by POST /api/auth/codes.",
    code: "invalid_code",
    param: "code"
  })

/** Checks that the caller is this user: while a browser starts, every user can read the address that it is to open, and so the code. */
const byOwnUser = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const ends = endsOf(NodeHttpServerRequest.toIncomingMessage(request).socket)
  if (ends === null || isOwnUser(yield* userOfPeer(ends))) return
  return yield* new Forbidden({
    message: "The code counts for the user who runs the gateway; another user of this machine sent it.",
    code: "other_user"
  })
})

export const layer = HttpApiBuilder.group(contractOf(Auth), "auth", (handlers) =>
  Effect.gen(function* () {
    const login = yield* Login
    const adminPassword = yield* AdminPassword
    const sessions = yield* Sessions
    const sessionOf = (headers: RequestHeaders) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => {
        const cookie = sessionCredentialOf(headers)
        const sessionId = cookie === null ? null : sessions.find(cookie, nowMs)
        return cookie === null || sessionId === null ? null : { cookie, sessionId }
      })
    const attemptOf = (headers: RequestHeaders) =>
      Effect.map(clientAddress, (address) => ({
        address,
        userAgent: headerOf(headers, "user-agent") ?? "",
        formerCookie: cookieOf(headers)
      }))
    return handlers
      .handle("me", () =>
        Effect.map(CurrentIdentity, ({ principal, tiers }) => meOf(principal, tiers, sessions.endsAtMs))
      )
      .handle("login", ({ payload, request }) =>
        attemptOf(request.headers).pipe(
          Effect.flatMap((attempt) => login.logIn({ ...attempt, password: payload.password })),
          Effect.flatMap((opened) => loggedIn(opened, request.headers)),
          Effect.catchTags({ ...passwordRefusals, WrongPassword: wrongPassword("password") }),
          answered
        )
      )
      .handle("session", ({ request }) =>
        Effect.map(isCrossSite(request.headers) ? Effect.succeed(null) : sessionOf(request.headers), (session) => {
          const endsAtMs = session === null ? null : sessions.endsAtMs(session.sessionId)
          return {
            authenticated: session !== null,
            passwordSet: adminPassword.isSet(),
            csrfToken: session === null ? null : csrfTokenOf(session.cookie),
            expiresAt: endsAtMs === null ? null : iso(endsAtMs)
          }
        })
      )
      .handle("changePassword", ({ payload, request }) =>
        Effect.flatMap(Effect.all([sessionOf(request.headers), clientAddress]), ([session, address]) =>
          login.changePassword({
            current: payload.currentPassword ?? null,
            next: payload.password,
            address,
            sessionId: session?.sessionId ?? null
          })
        ).pipe(Effect.catchTags({ ...passwordRefusals, WrongPassword: wrongPassword("currentPassword") }), answered)
      )
      .handle("setPassword", ({ payload }) => answered(adminPassword.set(payload.password)))
      .handle("issueCode", () =>
        Effect.map(login.issueCode, ({ code, expiresAtMs }) => ({
          code: Redacted.value(code),
          expiresAt: iso(expiresAtMs)
        }))
      )
      .handle("exchangeCode", ({ payload, request }) =>
        byOwnUser(request).pipe(
          Effect.zipRight(attemptOf(request.headers)),
          Effect.flatMap((attempt) => login.logInByCode({ ...attempt, code: payload.code })),
          Effect.flatMap((opened) => loggedIn(opened, request.headers)),
          Effect.catchTags({ TooManyLogins: passwordRefusals.TooManyLogins, WrongCode: wrongCode }),
          answered
        )
      )
      .handle("listSessions", ({ request }) =>
        Effect.gen(function* () {
          const session = yield* sessionOf(request.headers)
          const all = sessions.list(yield* Clock.currentTimeMillis)
          return { sessions: all.map((each) => sessionView(each, session?.sessionId ?? null)), total: all.length }
        })
      )
      .handle("endSession", ({ path }) =>
        Effect.gen(function* () {
          const named = sessions.list(yield* Clock.currentTimeMillis).find((each) => nameOf(each) === path.id)
          if (named === undefined) return yield* new NotFound({ message: `There is no session ${path.id}.` })
          yield* sessions.close(named.idHash)
        }).pipe(answered)
      )
      .handle("endSessions", ({ request }) =>
        Effect.gen(function* () {
          const kept = (yield* sessionOf(request.headers))?.sessionId ?? null
          const ended = sessions.list(yield* Clock.currentTimeMillis).filter(({ idHash }) => idHash !== kept)
          yield* Effect.forEach(ended, ({ idHash }) => sessions.close(idHash), { discard: true })
          return { ended: ended.length }
        }).pipe(answered)
      )
      .handle("logout", ({ request }) =>
        Effect.gen(function* () {
          const cookie = sessionCredentialOf(request.headers)
          if (cookie !== null) yield* login.logOut(cookie)
          return endedCookies(request.headers).reduce(
            (response, { name, options }) =>
              HttpServerResponse.unsafeSetCookie(response, name, "", { ...options, maxAge: 0 }),
            HttpServerResponse.empty({ status: 204 })
          )
        }).pipe(answered)
      )
  })
)
