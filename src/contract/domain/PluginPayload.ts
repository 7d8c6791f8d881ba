/**
 * Payloads of the functions of plugins, by event: the second argument of the events of a request, the only one of those of a plugin's
 * life. `docs/plugins.md` and the types of the SDK are made from these schemas.
 */
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import type { PluginHook, RequestHook } from "../../subjects/plugins/entity.ts"
import { RequestHook as RequestHookName } from "../../subjects/plugins/entity.ts"
import { WireName } from "./Wire.ts"

const MaybeText = Schema.NullOr(Schema.String)
const MaybeNumber = Schema.NullOr(Schema.Number)
const Members = Schema.Record({ key: Schema.String, value: Schema.Unknown })

const provider = field(Schema.String, "Its provider.", "openai")
const connectionId = field(Schema.String, "Its connection.", "0197f0a2-1c1b-7d33-a2f0-5f6c1a2b3c4d")
const model = field(Schema.String, "The provider's name of the model.", "gpt-4o-mini")
const maybeProvider = field(MaybeText, "The provider; null: none is concerned.", "openai")
const maybeConnectionId = field(MaybeText, "The connection; null: none is concerned.", null)
const maybeApiKeyId = field(MaybeText, "The API key of the caller; null: none, or it is not concerned.", null)
const latencyMs = field(Schema.Number, "Milliseconds since the request arrived.", 1_240)
const costUsd = field(Schema.Number, "What it has cost, in USD.", 0.000_42)

const Target = Schema.Struct({ provider, connectionId, model })

export const PluginTokens = Schema.Struct({
  in: field(Schema.Number, "Of the prompt, cached ones included.", 812),
  out: field(Schema.Number, "Generated, reasoning included.", 120),
  cacheRead: field(Schema.Number, "Of the prompt, read from the provider's cache.", 0),
  cacheWrite: field(Schema.Number, "Of the prompt, written to the provider's cache.", 0),
  reasoning: field(Schema.Number, "Of the generated, those of reasoning.", 0)
})
export type PluginTokens = typeof PluginTokens.Type

const tokens = field(PluginTokens, "As the usage row has them.")

/** The first argument of the events of a request. */
export const PluginContext = Schema.Struct({
  requestId: field(Schema.String, "The id of the request, also `X-Gateway-Request-Id`.", "0197f0a2-1c1b-7d33"),
  model: field(Schema.String, "The model as the client wrote it.", "openai/gpt-4o-mini"),
  provider: field(
    Schema.String,
    "The provider that is asked; before one is chosen the one that `model` names, else empty.",
    "openai"
  ),
  body: field(
    Schema.NullOr(Members),
    "The body of the request in the client's wire, with what it tells in its path; null: this hook has not asked for it.",
    { model: "openai/gpt-4o-mini", messages: [{ role: "user", content: "Hello" }] }
  ),
  headers: field(
    Schema.Record({ key: Schema.String, value: Schema.String }),
    "Headers of the request; names in lower case, without credentials.",
    { "user-agent": "curl/8" }
  ),
  metadata: field(Members, "What plugins have added to the request.", { team: "blue" }),
  timestamp: field(Schema.Number, "When the request arrived, in milliseconds since 1970.", 1_767_225_600_000),
  hook: field(RequestHookName, "The event.", "onRequest"),
  wire: field(WireName, "The format of the client's request and of its answer.", "chat"),
  endpoint: field(Schema.String, "What is asked for: `chat`, `embeddings`, `images` and so on.", "chat"),
  stream: field(Schema.Boolean, "Whether the answer is to be a stream.", false),
  apiKeyId: field(MaybeText, "The API key of the caller; null: none.", null),
  config: field(Members, "The configuration of the plugin.", { words: "secret" })
})
export type PluginContext = typeof PluginContext.Type

const OnRequest = Schema.Struct({})

const OnModelSelect = Schema.Struct({
  requestedModel: field(Schema.String, "The model as it is asked for.", "auto"),
  strategy: field(Schema.String, "What ordered the targets.", "auto"),
  chosen: field(Schema.NullOr(Target), "The first of the order; null: none can be called.", {
    provider: "openai",
    connectionId: "0197f0a2-1c1b-7d33-a2f0-5f6c1a2b3c4d",
    model: "gpt-4o-mini"
  }),
  candidates: field(
    Schema.Array(
      Schema.Struct({
        provider,
        connectionId,
        model,
        score: field(MaybeNumber, "Null: the strategy has no scores.", 0.87),
        excluded: field(MaybeText, "The rule that left it out; null: none has.", null)
      })
    ),
    "What could serve the request, at most 100."
  ),
  order: field(Schema.Array(Schema.String), "The targets in the order they are called, at most 100.", [
    "openai/gpt-4o-mini"
  ])
})

const OnComboResolve = Schema.Struct({
  combo: field(Schema.String, "Its name.", "everyday"),
  strategy: field(Schema.String, "Its strategy.", "priority"),
  targets: field(Schema.Array(Schema.String), "What it stands for, at most 100.", ["openai/gpt-4o-mini"])
})

const OnRateLimit = Schema.Struct({
  scope: field(
    Schema.Literal("key", "connection", "model"),
    "What is limited: an API key by this gateway, a connection or one model of it by the provider.",
    "key"
  ),
  apiKeyId: maybeApiKeyId,
  provider: maybeProvider,
  connectionId: maybeConnectionId,
  window: field(MaybeText, "The window of the limit; null: it is not known.", "60s"),
  retryAfterMs: field(MaybeNumber, "Milliseconds until it can be tried again; null: it is not known.", 12_000)
})

const OnQuotaExhaust = Schema.Struct({
  provider: maybeProvider,
  connectionId: maybeConnectionId,
  model: field(MaybeText, "The model; null: none is concerned.", null),
  apiKeyId: maybeApiKeyId,
  reason: field(
    Schema.String,
    "`quota_exhausted` and `credits_exhausted` of an account, `budget`, `token_limit` and `quota_share` of an API key.",
    "budget"
  ),
  resetAt: field(MaybeText, "When it is renewed, ISO 8601; null: it is not known.", "2026-01-01T00:00:00.000Z")
})

const OnProviderError = Schema.Struct({
  provider,
  connectionId,
  model,
  status: field(MaybeNumber, "What the provider answered; null: nothing.", 503),
  reason: field(Schema.String, "What the failure is understood as.", "http_503"),
  attempt: field(Schema.Number, "Which call of the request it was, from 1.", 1),
  willRetry: field(Schema.Boolean, "Another call of the request follows, or runs beside it.", true),
  circuitState: field(
    Schema.Literal("CLOSED", "DEGRADED", "OPEN", "HALF_OPEN"),
    "The provider's circuit breaker.",
    "CLOSED"
  )
})

const OnStreamStart = Schema.Struct({
  provider,
  connectionId,
  model,
  ttftMs: field(Schema.Number, "Milliseconds from the arrival of the request to here.", 310)
})

const OnStreamEnd = Schema.Struct({
  outcome: field(Schema.Literal("completed", "failed", "aborted"), "How it ended; `aborted`: the client left."),
  tokens,
  costUsd,
  latencyMs
})

const OnResponse = Schema.Struct({
  status: field(Schema.Number, "The status of the answer.", 200),
  body: field(
    Schema.NullOr(Members),
    "The whole answer in the client's wire, of a stream as it would be without one; null: it is no JSON, or cannot be read.",
    { choices: [{ index: 0, message: { role: "assistant", content: "Hello" }, finish_reason: "stop" }] }
  ),
  streamed: field(Schema.Boolean, "Whether the client gets it as a stream.", false),
  provider: field(MaybeText, "Its provider; null: no provider was asked.", "openai"),
  model: field(MaybeText, "The provider's name of the model; null: no provider was asked.", "gpt-4o-mini"),
  tokens,
  costUsd,
  latencyMs
})

const OnError = Schema.Struct({
  status: field(Schema.Number, "The status of the error.", 503),
  code: field(Schema.String, "Its stable code.", "service_unavailable"),
  message: field(Schema.String, "As the client reads it.", "The upstream sent no content within 30000 ms."),
  attempts: field(
    Schema.Array(
      Schema.Struct({
        provider,
        model,
        status: field(MaybeNumber, "Null: nothing was answered.", 503),
        reason: field(Schema.String, "What it was understood as.", "http_503")
      })
    ),
    "The calls that were made."
  )
})

const Lifecycle = Schema.Struct({
  name: field(Schema.String, "The plugin's.", "answer-filter"),
  version: field(Schema.String, "The plugin's.", "1.0.0"),
  manifest: field(Members, "The manifest as it was installed.", { name: "answer-filter", version: "1.0.0" })
})

export const pluginPayloads = {
  onRequest: OnRequest,
  onModelSelect: OnModelSelect,
  onComboResolve: OnComboResolve,
  onRateLimit: OnRateLimit,
  onQuotaExhaust: OnQuotaExhaust,
  onProviderError: OnProviderError,
  onStreamStart: OnStreamStart,
  onStreamEnd: OnStreamEnd,
  onResponse: OnResponse,
  onError: OnError,
  onInstall: Lifecycle,
  onActivate: Lifecycle,
  onDeactivate: Lifecycle,
  onUninstall: Lifecycle
} as const satisfies Readonly<Record<PluginHook, Schema.Schema.AnyNoContext>>

export type PluginPayload<Hook extends PluginHook> = (typeof pluginPayloads)[Hook]["Type"]

/** Payload of a request's event as it leaves the gateway: the body of an answer goes beside it, as text. */
export type RequestPayload<Hook extends RequestHook> = Omit<PluginPayload<Hook>, "body">
