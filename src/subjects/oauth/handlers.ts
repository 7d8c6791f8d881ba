/** `/api/oauth/{provider}/{action}`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { contractOf } from "../../contract/GroupContract.ts"
import { OAuth } from "./routes.ts"
import { type SignInAction, signInActions, type SignInAnswer, type SignInInput } from "./routes.ts"
import type { BadRequest } from "../../contract/Errors.ts"
import { requestedPrefix, type RequestHeaders } from "../auth/Credentials.ts"
import type { ObservedConnection } from "../connections/ObservedState.ts"
import { SignIns } from "./service.ts"
import { CurrentTrail, callerOf } from "../../entry/handling/AuditTrail.ts"
import { clientAddress } from "../../entry/listening/ClientAddress.ts"
import { htmlType, pageBelow } from "../../entry/pages/PageHeaders.ts"
import { signedInHeaders, signedInPage } from "../../entry/pages/SignedIn.ts"
import { answered, badField } from "../../entry/handling/Answers.ts"
import { iso } from "../../entry/handling/Views.ts"

const connectedView = ({ connection: { id, name, provider } }: ObservedConnection): SignInAnswer => ({
  status: "connected",
  connection: { id, provider, name }
})

type Input = NonNullable<SignInInput>

type SignInError = Effect.Effect.Error<
  ReturnType<(typeof SignIns.Service)["exchange" | "poll" | "device" | "authorize"]>
>

const isAction = (text: string): text is SignInAction => signInActions.some((action) => action === text)

const given = <Name extends keyof Input>(input: Input, name: Name) => {
  const value = input[name]
  return value === undefined
    ? badField(name, "is needed for this action")
    : Effect.succeed(value as NonNullable<Input[Name]>)
}

/** The first value of a parameter of the query; empty: none, or one that is too long to be meant. */
const parameter = (query: Readonly<Record<string, string | Array<string>>>, name: string): string => {
  const value = query[name]
  const text = typeof value === "string" ? value : (value?.[0] ?? "")
  return text.length <= maxParameterChars ? text : ""
}

const maxParameterChars = 8_192

interface Shown {
  readonly status: number
  readonly title: string
  readonly sentence: string
  readonly retryAfterMs?: number
}

const failed = (status: number, sentence: string): Shown => ({ status, title: "The sign-in failed", sentence })

const unknownState = "This sign-in is not known: it is over, was finished, or was never begun. Begin it again."

/** The text of an error for the browser's user. */
const shownOf = (error: Effect.Effect.Error<ReturnType<(typeof SignIns.Service)["arrive"]>>): Shown => {
  switch (error._tag) {
    case "EntityNotFound":
      return failed(404, error.field === "state" ? unknownState : error.message)
    case "TooManyArrivals":
      return { ...failed(429, "Too many sign-ins were tried. Wait a little."), retryAfterMs: error.retryAfterMs }
    case "RemoteFailed":
      return failed(502, error.message)
    case "StoreError":
      return failed(503, "The gateway could not use its database; its log has the details.")
    case "StateConflict":
      return failed(409, error.message)
    default:
      return failed(400, error.message)
  }
}

const pageOf = ({ retryAfterMs, sentence, status, title }: Shown, headers: RequestHeaders) =>
  HttpServerResponse.text(pageBelow(signedInPage(title, sentence), requestedPrefix(headers)), {
    status,
    contentType: htmlType,
    headers: {
      ...signedInHeaders,
      ...(retryAfterMs === undefined ? {} : { "Retry-After": String(Math.ceil(retryAfterMs / 1000)) })
    }
  })

/** The state of the query says whose sign-in it is; nothing else of the request counts. */
const handleCallback = Effect.fnUntraced(function* (signIns: typeof SignIns.Service, provider: string) {
  const { headers, method } = yield* HttpServerRequest.HttpServerRequest
  // Programs that look at links ask so, and must not use up a sign-in.
  if (method !== "GET") return pageOf(failed(404, unknownState), headers)
  const query = yield* HttpServerRequest.ParsedSearchParams
  const arrival = {
    address: yield* clientAddress,
    state: parameter(query, "state"),
    code: parameter(query, "code"),
    error: parameter(query, "error")
  }
  const shown = yield* Effect.matchEffect(signIns.arrive(provider, arrival), {
    onFailure: (error) => Effect.succeed(shownOf(error)),
    onSuccess: ({ caller, connection: { connection } }) =>
      Effect.map(CurrentTrail, (trail): Shown => {
        if (trail !== null) trail.began = { actor: caller, made: connection.id }
        return {
          status: 200,
          title: "Signed in",
          sentence: `The connection '${connection.name}' (${connection.provider}) is signed in. This page can be closed.`
        }
      })
  })
  return pageOf(shown, headers)
})

export const layer = HttpApiBuilder.group(contractOf(OAuth), "oauth", (handlers) =>
  Effect.map(SignIns, (signIns) => {
    const run = (
      provider: string,
      action: SignInAction,
      input: Input,
      caller: string
    ): Effect.Effect<SignInAnswer, BadRequest | SignInError> => {
      const begin = {
        caller,
        clientId: input.clientId,
        clientSecret: input.clientSecret,
        name: input.name,
        proxyId: input.proxyId,
        connectionId: input.connectionId
      }
      switch (action) {
        case "authorize":
          return Effect.map(signIns.authorize(provider, begin), ({ expiresAtMs, ...shown }): SignInAnswer => ({
            status: "pending",
            ...shown,
            expiresAt: iso(expiresAtMs)
          }))
        case "device-code":
          return Effect.map(
            signIns.device(provider, begin),
            ({ expiresAtMs, intervalMs, verificationUriComplete, ...shown }): SignInAnswer => ({
              status: "pending",
              ...shown,
              ...(verificationUriComplete === null ? {} : { verificationUriComplete }),
              retryAfterMs: intervalMs,
              expiresAt: iso(expiresAtMs)
            })
          )
        case "exchange":
          return Effect.flatMap(given(input, "code"), (code) =>
            Effect.map(
              signIns.exchange(provider, {
                caller,
                code: Redacted.value(code),
                sessionId: input.sessionId,
                state: input.state
              }),
              connectedView
            )
          )
        case "poll":
          return Effect.flatMap(given(input, "sessionId"), (sessionId) =>
            Effect.map(signIns.poll(provider, sessionId, caller), (polled): SignInAnswer => {
              if (polled._tag === "Connected") return connectedView(polled.connection)
              const { expiresAtMs, retryAfterMs } = polled
              return { status: "pending", sessionId, retryAfterMs, expiresAt: iso(expiresAtMs) }
            })
          )
        case "import-token":
          return Effect.flatMap(given(input, "accessToken"), (accessToken) => {
            const { clientId, clientSecret, expiresAt, refreshToken } = input
            const tokens = {
              accessToken,
              ...(refreshToken === undefined ? {} : { refreshToken }),
              ...(expiresAt === undefined ? {} : { expiresAt }),
              ...(clientId === undefined ? {} : { clientId }),
              ...(clientSecret === undefined ? {} : { clientSecret })
            }
            return Effect.map(
              signIns.importTokens(provider, {
                tokens,
                name: input.name,
                proxyId: input.proxyId,
                connectionId: input.connectionId
              }),
              connectedView
            )
          })
        case "cancel":
          return Effect.flatMap(given(input, "sessionId"), (sessionId) =>
            Effect.as(signIns.cancel(sessionId, caller), { status: "cancelled" } satisfies SignInAnswer)
          )
      }
    }
    return handlers
      .handle("act", ({ path: { action, provider }, payload }) =>
        Effect.gen(function* () {
          if (!isAction(action)) return yield* badField("action", `must be one of ${signInActions.join(", ")}`)
          const caller = callerOf(yield* CurrentTrail)
          return yield* answered(run(provider, action, payload ?? {}, caller))
        })
      )
      .handle("callback", ({ path: { provider } }) => handleCallback(signIns, provider))
  })
)
