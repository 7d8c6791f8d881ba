/** `/api/oauth/{provider}/{action}`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { contractOf } from "../../api/GroupContract.ts"
import { OAuth } from "../../api/Groups/OAuth.ts"
import { type SignInAction, signInActions, type SignInAnswer, type SignInInput } from "../../api/Groups/OAuth.ts"
import type { BadRequest } from "../../api/Errors.ts"
import type { ObservedConnection } from "../../management/ObservedState.ts"
import { SignIns } from "../../management/SignIns.ts"
import { CurrentTrail, callerOf } from "../AuditTrail.ts"
import { answered, badField } from "./Answers.ts"
import { iso } from "./Views.ts"

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
        proxyId: input.proxyId
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
              signIns.importTokens(provider, { tokens, name: input.name, proxyId: input.proxyId }),
              connectedView
            )
          })
        case "cancel":
          return Effect.flatMap(given(input, "sessionId"), (sessionId) =>
            Effect.as(signIns.cancel(sessionId, caller), { status: "cancelled" } satisfies SignInAnswer)
          )
      }
    }
    return handlers.handle("act", ({ path: { action, provider }, payload }) =>
      Effect.gen(function* () {
        if (!isAction(action)) return yield* badField("action", `must be one of ${signInActions.join(", ")}`)
        const caller = callerOf(yield* CurrentTrail)
        return yield* answered(run(provider, action, payload ?? {}, caller))
      })
    )
  })
)
