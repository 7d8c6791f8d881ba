/**
 * Answers "how many tokens would this be?" (`POST /v1/messages/count_tokens`, and the same of the gemini and responses
 * wires): by the count of the provider that would serve the request where it has one, else by the local tokeniser. A question, no
 * inference: nothing is charged and no usage is written. An id without a target is counted all the same.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { ownerOf } from "../../subjects/proxies/entity.ts"
import { type InferenceError, KeyRejected, type QuotaNotAllocated } from "../../contract/domain/Errors.ts"
import * as Upstream from "../../net/egress/Upstream.ts"
import { Flags } from "../../subjects/flags/service.ts"
import * as Timers from "../../platform/Timers.ts"
import * as Catalog from "../providers/Catalog.ts"
import * as TokenRefresh from "../providers/oauth/TokenRefresh.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import { notAllocated } from "../routing/quota/Allocations.ts"
import * as Resolutions from "../routing/resolve/Resolutions.ts"
import { familyOf } from "../tokens/Family.ts"
import { reckon, totalOf } from "../tokens/TokenEstimate.ts"
import { estimateTexts } from "../tokens/TextEstimate.ts"
import * as Tokeniser from "../tokens/Tokeniser.ts"
import type { Conversation } from "../../wire/canonical/Conversation.ts"
import { codecs, encodeConversation } from "../../wire/Codec.ts"
import { isObject, type JsonObject, parseJson } from "../../wire/json/Json.ts"
import { unlessDisconnected } from "../request/ClientDisconnect.ts"
import { type CountMemory, makeCountMemory } from "./CountMemory.ts"
import {
  asConversation,
  countBody,
  countHeaders,
  countingWire,
  countPath,
  type CountingWire,
  readCount,
  renderCount
} from "./CountRequest.ts"
import { codingToolOf, isClaudeCode, toolHeaders } from "../request/CodingTool.ts"
import type { Exchange } from "../request/Exchange.ts"
import { answerBody, answerError } from "../request/OwnAnswer.ts"
import { resolveFor } from "../request/RequestedModel.ts"
import * as StopSignal from "../request/StopSignal.ts"

export interface TokenCount {
  /** The answer in the client's wire. */
  readonly body: JsonObject
  readonly source: "provider" | "local"
}

export class TokenCounter extends Context.Tag("gateway/plane/counting/TokenCounter")<
  TokenCounter,
  {
    /**
     * Answers the client with the count, or with why there is none. `parsed` is the request's body with what its path says. No usage is
     * written for it.
     */
    readonly answer: (exchange: Exchange, parsed: JsonObject) => Effect.Effect<void>
    /** Tokens of texts for a bill; guessed when the tokeniser takes longer than a second. */
    readonly countTexts: (texts: ReadonlyArray<string>) => Effect.Effect<number>
  }
>() {}

/** A count is asked for before the request itself: it must not take long. */
const limits: Upstream.RequestLimits = { timeoutMs: 3_000, maxBytes: 65_536 }
/** A row must not be kept waiting for its estimate. */
const billPatienceMs = 1_000
/** Providers asked at the same time; beyond it the count is local. */
const maxAsking = 64

/** A request to be counted, understood. */
interface Counted {
  readonly exchange: Exchange
  readonly body: JsonObject
  readonly conversation: Conversation
  /** The client's own body may be shown to an upstream of its wire. */
  readonly relayable: boolean
}

/** The upstream is asked with the client's own words. */
const relays = ({ exchange, relayable }: Counted, wire: CountingWire): boolean =>
  relayable && codecs[wire] === exchange.codec

const apiKeyIdOf = ({ principal }: Exchange): string | null => (principal._tag === "Key" ? principal.key.id : null)

const services = Effect.all({
  stop: StopSignal.StopSignal,
  upstream: Upstream.Upstream,
  tokeniser: Tokeniser.Tokeniser,
  catalog: Catalog.Catalog,
  resolutions: Resolutions.Resolutions,
  timers: Timers.Timers,
  flags: Flags,
  tokens: TokenRefresh.TokenRefresh
})
interface Deps extends Effect.Effect.Success<typeof services> {
  asking: number
  readonly mute: CountMemory
}

/** A count uses up no quota, but it asks a member of the group with its credential. */
const barredFrom = (
  { catalog }: Deps,
  model: string,
  share: string | null,
  apiKeyId: string | null
): QuotaNotAllocated | null => {
  const group = share === null ? undefined : catalog.current().quotaGroups.get(share)
  return group === undefined ? null : notAllocated(model, group, apiKeyId)
}

const open = (deps: Deps, exchange: Exchange, parsed: JsonObject): Either.Either<Counted, InferenceError> =>
  Either.gen(function* () {
    const { codec, wire } = exchange
    const body = asConversation(wire, parsed)
    const envelope = yield* codec.checkEnvelope(body)
    const resolution = resolveFor(deps.resolutions, exchange, envelope.model)
    if (resolution instanceof KeyRejected) return yield* Either.left(resolution)
    const share = "_tag" in resolution ? null : resolution.quotaGroup
    const barred = barredFrom(deps, envelope.model, share, apiKeyIdOf(exchange))
    if (barred !== null) return yield* Either.left(barred)
    const conversation = yield* codec.decodeRequest(body)
    return { exchange, body, conversation, relayable: !envelope.needsRewrite && envelope.systemBetween !== true }
  })

/** A node that takes nothing but one client's own requests is asked for no other's counts. */
const takes = ({ flags }: Deps, { onlyFor }: Target["account"]["spec"], exchange: Exchange): boolean =>
  onlyFor === undefined || (flags.isOn("ENABLE_CC_COMPATIBLE_PROVIDER") && isClaudeCode(exchange))

const targetOf = (deps: Deps, model: string, exchange: Exchange): Target | null => {
  const apiKeyId = apiKeyIdOf(exchange)
  const resolution = resolveFor(deps.resolutions, exchange, model)
  if ("_tag" in resolution) return null
  const isOffered = ({ account, share }: Target): boolean =>
    takes(deps, account.spec, exchange) && barredFrom(deps, model, share ?? null, apiKeyId) === null
  return resolution.targets.find(isOffered) ?? null
}

/** The body in the target's wire; null when the target cannot be asked this. */
const bodyFor = (
  { catalog }: Deps,
  counted: Counted,
  wire: CountingWire,
  { account, model }: Target
): JsonObject | null => {
  const { body, conversation, exchange } = counted
  if (relays(counted, wire)) return countBody(wire, body, model)
  const encoded = encodeConversation(
    exchange.codec,
    codecs[wire],
    // How long the answer may be is no part of the question, and what was filled in for it is not the client's wish.
    { ...conversation, maxOutputTokens: null },
    { model, stream: false, ...catalog.factsOf(account, model) }
  )
  return Either.isLeft(encoded) ? null : countBody(wire, encoded.right.body, model)
}

const requestFor = (
  deps: Deps,
  counted: Counted,
  wire: CountingWire,
  target: Target
): Upstream.UpstreamRequest | null => {
  const { exchange } = counted
  const endpoint = target.account.endpoints[wire]
  const path = endpoint === undefined ? null : countPath(wire, endpoint.path(target.model, false))
  const body = path === null ? null : bodyFor(deps, counted, wire, target)
  if (endpoint === undefined || path === null || body === null) return null
  const own = relays(counted, wire) ? wire : null
  const tool = deps.flags.isOn("CLI_COMPAT_ALL") ? codingToolOf(exchange) : null
  return {
    origin: endpoint.origin,
    path,
    method: "POST",
    headers: countHeaders(endpoint.headers, exchange.headers, own, own && toolHeaders(tool, target.account.spec)),
    body: JSON.stringify(body),
    secrets: endpoint.secrets,
    owner: ownerOf(target.account.connection, apiKeyIdOf(exchange))
  }
}

/** The provider's own count; null when it has none to give, for whatever reason. */
/** Null also where the access token of the account is over and there is no new one. */
const askProvider = (deps: Deps, counted: Counted, target: Target): Effect.Effect<TokenCount | null> =>
  Effect.matchEffect(deps.tokens.ensureFresh(target.account.connection), {
    onFailure: () => Effect.succeed(null),
    onSuccess: () => {
      const account = deps.tokens.current(target.account.connection.id) ?? target.account
      return askFresh(deps, counted, { ...target, account })
    }
  })

const askFresh = (deps: Deps, counted: Counted, target: Target): Effect.Effect<TokenCount | null> =>
  Effect.suspend(() => {
    const { exchange } = counted
    const wire = countingWire(exchange.wire, target.account.wires)
    if (wire === null || deps.asking >= maxAsking) return Effect.succeed(null)
    const key = `${target.account.connection.id} ${wire} ${target.account.endpoints[wire]?.origin ?? ""}`
    if (deps.mute.isMute(key, deps.timers.nowMs())) return Effect.succeed(null)
    const request = requestFor(deps, counted, wire, target)
    if (request === null) return Effect.succeed(null)
    const unanswered = (status: number | null): null => {
      deps.mute.failed(key, status, deps.timers.nowMs())
      return null
    }
    deps.asking += 1
    return deps.upstream.request(request, limits).pipe(
      Effect.map(({ body, status }): TokenCount | null => {
        if (status !== 200) return unanswered(status)
        const answer = parseJson(body.toString("utf8"))
        const tokens = isObject(answer) ? readCount(wire, answer) : null
        // A 200 without a count comes from servers that answer every path alike.
        if (tokens === null || !isObject(answer)) return unanswered(404)
        return { body: wire === exchange.wire ? answer : renderCount(exchange.wire, tokens), source: "provider" }
      }),
      Effect.catchAll(() => Effect.sync(() => unanswered(null))),
      Effect.ensuring(
        Effect.sync(() => {
          deps.asking -= 1
        })
      )
    )
  })

const countLocally = (
  { tokeniser }: Deps,
  { conversation, exchange }: Counted,
  model: string
): Effect.Effect<TokenCount> =>
  Effect.suspend(() => {
    const family = familyOf(model)
    const reckoning = reckon(conversation, family)
    return Effect.map(tokeniser.count(reckoning.texts), (tokens) => ({
      body: renderCount(exchange.wire, totalOf(tokens, reckoning, family)),
      source: "local"
    }))
  })

const asked = (deps: Deps, counted: Counted): Effect.Effect<TokenCount> => {
  const { model } = counted.conversation
  const target = targetOf(deps, model, counted.exchange)
  if (target === null) return countLocally(deps, counted, model)
  return Effect.flatMap(askProvider(deps, counted, target), (known) =>
    known === null ? countLocally(deps, counted, target.model) : Effect.succeed(known)
  )
}

const count = (deps: Deps, exchange: Exchange, parsed: JsonObject): Effect.Effect<TokenCount, InferenceError> =>
  Effect.suspend(() => {
    const counted = open(deps, exchange, parsed)
    return Either.isLeft(counted)
      ? Effect.fail(counted.left)
      : unlessDisconnected(exchange.reply, asked(deps, counted.right))
  }).pipe(Effect.withSpan("TokenCounter.count"))

const answer = (deps: Deps, exchange: Exchange, parsed: JsonObject): Effect.Effect<void> =>
  Effect.match(StopSignal.unlessStopped(deps.stop, count(deps, exchange, parsed)), {
    onFailure: (error) => answerError(exchange, error),
    onSuccess: ({ body, source }) => answerBody(exchange, body, ["X-Gateway-Token-Count-Source", source])
  })

const countTexts = ({ tokeniser }: Deps, texts: ReadonlyArray<string>): Effect.Effect<number> =>
  Effect.timeoutTo(tokeniser.count(texts), {
    duration: billPatienceMs,
    onSuccess: (tokens) => tokens,
    onTimeout: () => estimateTexts(texts)
  })

export const make = Effect.gen(function* () {
  const all = yield* services
  const deps: Deps = { ...all, asking: 0, mute: makeCountMemory() }

  return TokenCounter.of({
    answer: (exchange, parsed) => answer(deps, exchange, parsed),
    countTexts: (texts) => countTexts(deps, texts)
  })
})

export const layer: Layer.Layer<TokenCounter, never, Effect.Effect.Context<typeof services>> = Layer.effect(
  TokenCounter,
  make
)
