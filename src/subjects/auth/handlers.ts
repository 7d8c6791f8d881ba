/** `/api/auth`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { contractOf } from "../../contract/GroupContract.ts"
import { Auth } from "./routes.ts"
import { TooManyRequests, Unauthorized } from "../../contract/Errors.ts"
import { AdminPassword } from "./AdminPassword.ts"
import { headerOf, prefixAsked } from "./Credentials.ts"
import type { RequestHeaders } from "./Credentials.ts"
import { csrfTokenOf, isCrossSite } from "./Csrf.ts"
import { Login, type TooManyLogins } from "./Login.ts"
import { absoluteMs, cookieName, cookieOf, Sessions } from "./Sessions.ts"
import { clientAddress } from "../../entry/listening/ClientAddress.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { iso } from "../../entry/handling/Views.ts"

/** Behind https the cookie must not leave it. A forged header can only make the cookie stricter. */
const cookieOptions = (headers: RequestHeaders) => ({
  httpOnly: true,
  sameSite: "lax" as const,
  path: prefixAsked(headers) || "/",
  secure: headerOf(headers, "x-forwarded-proto") === "https"
})

const passwordRefusals = {
  TooManyLogins: ({ retryAfterMs }: TooManyLogins) =>
    new TooManyRequests({ message: "Too many logins were tried. Wait a little.", retryAfterMs }),
  NoAdminPassword: () =>
    new Unauthorized({
      message: "No admin password is set. Run 'gateway setup', or start the gateway with GATEWAY_ADMIN_PASSWORD.",
      code: "admin_not_configured"
    })
}

const wrongPassword = (param: string) => () =>
  new Unauthorized({ message: "The password is wrong.", code: "invalid_password", param })

export const layer = HttpApiBuilder.group(contractOf(Auth), "auth", (handlers) =>
  Effect.gen(function* () {
    const login = yield* Login
    const adminPassword = yield* AdminPassword
    const sessions = yield* Sessions
    const sessionOf = (headers: RequestHeaders) =>
      Effect.map(Clock.currentTimeMillis, (nowMs) => {
        const cookie = cookieOf(headers)
        const sessionId = cookie === null ? null : sessions.find(cookie, nowMs)
        return cookie === null || sessionId === null ? null : { cookie, sessionId }
      })
    return handlers
      .handle("login", ({ payload, request }) =>
        Effect.gen(function* () {
          const { cookie, csrfToken, expiresAtMs } = yield* login.logIn({
            password: payload.password,
            address: yield* clientAddress,
            formerCookie: cookieOf(request.headers)
          })
          const response = yield* HttpServerResponse.json({ csrfToken, expiresAt: iso(expiresAtMs) })
          return HttpServerResponse.unsafeSetCookie(response, cookieName, Redacted.value(cookie), {
            ...cookieOptions(request.headers),
            maxAge: absoluteMs
          })
        }).pipe(
          Effect.catchTags({
            HttpBodyError: Effect.die,
            ...passwordRefusals,
            WrongPassword: wrongPassword("password")
          }),
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
            current: payload.currentPassword,
            next: payload.password,
            address,
            sessionId: session?.sessionId ?? null
          })
        ).pipe(Effect.catchTags({ ...passwordRefusals, WrongPassword: wrongPassword("currentPassword") }), answered)
      )
      .handle("setPassword", ({ payload }) => answered(adminPassword.set(payload.password)))
      .handle("logout", ({ request }) =>
        Effect.gen(function* () {
          const cookie = cookieOf(request.headers)
          if (cookie !== null) yield* login.logOut(cookie)
          return HttpServerResponse.unsafeSetCookie(HttpServerResponse.empty({ status: 204 }), cookieName, "", {
            ...cookieOptions(request.headers),
            maxAge: 0
          })
        }).pipe(answered)
      )
  })
)
