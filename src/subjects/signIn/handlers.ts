/** `/api/sign-in`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { contractOf } from "../../contract/GroupContract.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { CurrentTrail } from "../../entry/handling/AuditTrail.ts"
import { returnBaseOf } from "../../entry/handling/ReturnBase.ts"
import { clientAddress } from "../../entry/listening/ClientAddress.ts"
import { htmlType, pageBelow } from "../../entry/pages/PageHeaders.ts"
import { signedInHeaders, signedInPage } from "../../entry/pages/SignedIn.ts"
import { headerOf, requestedPrefix, type RequestHeaders } from "../auth/Credentials.ts"
import { cookieOf, endedCookies, newCookie } from "../auth/sessions/SessionCookie.ts"
import { absoluteMs, Sessions } from "../auth/sessions/Sessions.ts"
import { redirectUriOf } from "./ReturnAddress.ts"
import { SignIn as SignInGroup } from "./routes.ts"
import { type Beginning, SignIn, type SignedIn } from "./service.ts"
import * as StateCookie from "./StateCookie.ts"

type ArriveError = Effect.Effect.Error<ReturnType<(typeof SignIn.Service)["arrive"]>>

interface Shown {
  readonly status: number
  readonly sentence: string
  readonly retryAfterMs?: number
}

const notThere: Shown = { status: 404, sentence: "There is no such way to sign in." }

const noAddress: Shown = {
  status: 400,
  sentence:
    "The gateway does not know this address as its own: an administrator sets publicUrl, or names the host in allowedHosts (PATCH /api/settings)."
}

const shownOf = (error: ArriveError): Shown => {
  switch (error._tag) {
    case "EntityNotFound":
      return notThere
    case "NotBegun":
      return {
        status: 400,
        sentence:
          "This sign-in was not begun by this browser, was used already, or ten minutes are over. Begin it again at the login."
      }
    case "NotLetIn":
      return { status: 403, sentence: error.message }
    case "IssuerFailed":
      return { status: 502, sentence: error.message }
    case "TooManySignIns":
      return { status: 429, sentence: "Too many sign-ins were tried. Wait a little.", retryAfterMs: error.retryAfterMs }
    case "StoreError":
      return { status: 503, sentence: "The gateway could not use its database; its log has the details." }
  }
}

const pageOf = (headers: RequestHeaders, { retryAfterMs, sentence, status }: Shown) =>
  HttpServerResponse.text(pageBelow(signedInPage("The sign-in failed", sentence), requestedPrefix(headers)), {
    status,
    contentType: htmlType,
    headers: {
      ...signedInHeaders,
      ...(retryAfterMs === undefined ? {} : { "Retry-After": String(Math.ceil(retryAfterMs / 1000)) })
    }
  })

/** The cookie comes along when the issuer's page leads back, so that it is not `strict`. */
const stateCookie = (headers: RequestHeaders) => ({
  httpOnly: true,
  sameSite: "lax" as const,
  path: `${requestedPrefix(headers)}/api/sign-in`,
  secure: newCookie(headers).options.secure
})

/** Goes on by a page of its own: a browser that another site sent here has no session on its way through redirects. */
const onward = ({ login, waitingLogin }: SignedIn, headers: RequestHeaders) => {
  const { name, options } = newCookie(headers)
  const request = waitingLogin === "" ? "" : `#request=${waitingLogin}`
  const next = waitingLogin === null ? "/dashboard/" : `/dashboard/login${request}`
  const page = pageBelow(signedInPage("Signed in", "The dashboard opens.", next), requestedPrefix(headers))
  return HttpServerResponse.text(page, { contentType: htmlType, headers: signedInHeaders }).pipe(
    HttpServerResponse.unsafeSetCookie(name, Redacted.value(login.cookie), { ...options, maxAge: absoluteMs }),
    HttpServerResponse.unsafeSetCookie(StateCookie.cookieName, "", { ...stateCookie(headers), maxAge: 0 })
  )
}

const begin = Effect.fnUntraced(function* (
  signIn: typeof SignIn.Service,
  base: string | null,
  { issuerId, waitingLogin }: Pick<Beginning, "issuerId" | "waitingLogin">
) {
  const { headers, method } = yield* HttpServerRequest.HttpServerRequest
  // Programs that look at links ask so.
  if (method !== "GET") return pageOf(headers, notThere)
  if (base === null) return pageOf(headers, noAddress)
  const address = yield* clientAddress
  const beginning = { issuerId, address, redirectUri: redirectUriOf(base, issuerId), waitingLogin }
  return yield* Effect.match(signIn.begin(beginning), {
    onFailure: (error) => pageOf(headers, shownOf(error)),
    onSuccess: ({ cookie, url }) =>
      HttpServerResponse.text(
        pageBelow(signedInPage("Sign in", "The sign-in goes on at the issuer.", url), requestedPrefix(headers)),
        { contentType: htmlType, headers: signedInHeaders }
      ).pipe(
        HttpServerResponse.unsafeSetCookie(StateCookie.cookieName, cookie, {
          ...stateCookie(headers),
          maxAge: StateCookie.lifetimeMs
        })
      )
  })
})

const maxQueryChars = 16_384

const callback = Effect.fnUntraced(function* (signIn: typeof SignIn.Service, issuerId: string) {
  const { headers, method, url } = yield* HttpServerRequest.HttpServerRequest
  if (method !== "GET") return pageOf(headers, notThere)
  const start = url.indexOf("?")
  const search = start < 0 || url.length > maxQueryChars ? "" : url.slice(start + 1)
  const arrival = {
    issuerId,
    address: yield* clientAddress,
    search,
    state: new URLSearchParams(search).get("state") ?? "",
    cookie: StateCookie.valueIn(headers),
    userAgent: headerOf(headers, "user-agent") ?? "",
    formerCookie: cookieOf(headers)
  }
  return yield* Effect.matchEffect(signIn.arrive(arrival), {
    onFailure: (error) => Effect.succeed(pageOf(headers, shownOf(error))),
    onSuccess: (signedIn) =>
      Effect.map(CurrentTrail, (trail) => {
        if (trail !== null) trail.began = { actor: `person:${signedIn.user.id}`, made: null }
        return onward(signedIn, headers)
      })
  })
})

export const layer = HttpApiBuilder.group(contractOf(SignInGroup), "signIn", (handlers) =>
  Effect.gen(function* () {
    const sessions = yield* Sessions
    const signIn = yield* SignIn
    const baseOf = yield* returnBaseOf
    return handlers
      .handle("offered", () =>
        Effect.map(answered(signIn.offered), (all) => ({ issuers: all.map(({ id, name }) => ({ id, name })) }))
      )
      .handle("begin", ({ path, request, urlParams: { login = null } }) =>
        begin(signIn, baseOf(request.headers), { issuerId: path.id, waitingLogin: login })
      )
      .handle("callback", ({ path }) => callback(signIn, path.id))
      .handle("logout", ({ request: { headers } }) =>
        Effect.gen(function* () {
          const cookie = cookieOf(headers)
          const id = cookie === null ? null : sessions.find(cookie, yield* Clock.currentTimeMillis)
          const session = id === null ? null : sessions.get(id)
          if (session !== null) yield* sessions.close(session.idHash)
          const issuerId = session?.issuerId ?? null
          const url = issuerId === null ? null : yield* signIn.logoutUrl(issuerId)
          return endedCookies(headers).reduce(
            (response, { name, options }) =>
              HttpServerResponse.unsafeSetCookie(response, name, "", { ...options, maxAge: 0 }),
            yield* Effect.orDie(HttpServerResponse.json({ url }))
          )
        }).pipe(answered)
      )
  })
)
