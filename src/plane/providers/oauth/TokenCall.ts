/** One renewal at the token endpoint, from the tokens that are used up to the new ones. Bounded in time and size. */
import * as Effect from "effect/Effect"
import type * as Redacted from "effect/Redacted"
import type * as Context from "effect/Context"
import type { CallOwner } from "../../../subjects/proxies/entity.ts"
import type { OAuthTokens } from "../../../subjects/connections/entity.ts"
import type { OAuthEndpoint } from "../../../contract/domain/Provider.ts"
import type { RequestError, RequestLimits, Upstream } from "../../../net/egress/Upstream.ts"
import { readAnswer, type TokenAnswer } from "./TokenAnswer.ts"
import { type ClientAuth, hasBothWays, requestOf, secretsIn } from "./TokenRequest.ts"

export const limits: RequestLimits = { timeoutMs: 15_000, maxBytes: 65_536 }

/** The endpoint did not answer in full. */
export interface Unanswered {
  readonly _tag: "Unanswered"
  readonly reason: "network" | "timeout" | "malformed"
  readonly words: string
}

const unanswered = (error: RequestError): Unanswered => {
  switch (error._tag) {
    case "TransportFailure":
      return { _tag: "Unanswered", reason: "network", words: error.message }
    case "TimedOut":
      return { _tag: "Unanswered", reason: "timeout", words: `No answer within ${error.timeoutMs / 1000} s.` }
    case "ResponseTooLarge":
      return { _tag: "Unanswered", reason: "malformed", words: "The answer is too large." }
  }
}

/** An idle connection that the peer has closed meanwhile: the request was not read, so it may be sent again. */
const wasReset = (error: RequestError): boolean => error._tag === "TransportFailure" && error.kind === "reset"

/**
 * Renews the tokens. Where a client with a secret is refused in one way, the other one is tried: no token is used up by
 * that.
 */
export const renew = (
  upstream: Context.Tag.Service<Upstream>,
  endpoint: OAuthEndpoint,
  refreshToken: Redacted.Redacted,
  tokens: OAuthTokens,
  owner: CallOwner
): Effect.Effect<TokenAnswer | Unanswered> => {
  const ask = (clientAuth: ClientAuth) =>
    upstream.controlRequest({ ...requestOf(endpoint, refreshToken, tokens, clientAuth), owner }, limits).pipe(
      Effect.retry({ times: 1, while: wasReset }),
      Effect.map((response): TokenAnswer | Unanswered => readAnswer(response, secretsIn(tokens))),
      Effect.catchAll((error) => Effect.succeed(unanswered(error)))
    )
  const other: ClientAuth = endpoint.clientAuth === "basic" ? "body" : "basic"
  return Effect.flatMap(ask(endpoint.clientAuth), (answer) =>
    answer._tag === "ClientRefused" && hasBothWays(endpoint, tokens) ? ask(other) : Effect.succeed(answer)
  )
}
