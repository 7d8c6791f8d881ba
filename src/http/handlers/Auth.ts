/** `/api/auth`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import { GatewayApi } from "../../api/Api.ts"
import { TooManyRequests, Unauthorized } from "../../api/Errors.ts"
import { AdminPassword } from "../../auth/AdminPassword.ts"
import { headerOf } from "../../auth/Credentials.ts"
import type { RequestHeaders } from "../../auth/Credentials.ts"
import { Login } from "../../auth/Login.ts"
import { absoluteMs, cookieName, cookieOf } from "../../auth/Sessions.ts"
import { answered } from "./Answers.ts"
import { iso } from "./Views.ts"

/** Behind https the cookie must not leave it. A forged header can only make the cookie stricter. */
const cookieOptions = (headers: RequestHeaders) => ({
  httpOnly: true,
  sameSite: "lax" as const,
  path: "/",
  secure: headerOf(headers, "x-forwarded-proto") === "https"
})

export const layer = HttpApiBuilder.group(GatewayApi, "auth", (handlers) =>
  Effect.gen(function* () {
    const login = yield* Login
    const adminPassword = yield* AdminPassword
    return handlers
      .handle("login", ({ payload, request }) =>
        Effect.gen(function* () {
          const { cookie, csrfToken, expiresAtMs } = yield* login.logIn({
            password: payload.password,
            address: Option.getOrElse(request.remoteAddress, () => ""),
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
            TooManyLogins: ({ retryAfterMs }) =>
              new TooManyRequests({ message: "Too many logins were tried. Wait a little.", retryAfterMs }),
            WrongPassword: () =>
              new Unauthorized({ message: "The password is wrong.", code: "invalid_password", param: "password" }),
            NoAdminPassword: () =>
              new Unauthorized({
                message:
                  "No admin password is set. Run 'gateway setup', or start the gateway with GATEWAY_ADMIN_PASSWORD.",
                code: "admin_not_configured"
              })
          }),
          answered
        )
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
