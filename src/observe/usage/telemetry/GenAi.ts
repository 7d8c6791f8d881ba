/** OpenTelemetry's GenAI semantic conventions (https://opentelemetry.io/docs/specs/semconv/gen-ai/). Never the text of a request. */
import type { AttemptRecord } from "../../../subjects/routing/entity.ts"
import { nanoUsdPerUsd } from "../../../contract/domain/Usage.ts"
import { clean, pathOnly } from "./Summary.ts"
import type { RequestSummary } from "./Summary.ts"

export type AttributeValue = string | number | boolean

/** Our provider id → the convention's well-known value, where they differ. */
const providerNames: ReadonlyMap<string, string> = new Map([
  ["azure-foundry", "azure.ai.inference"],
  ["azure-openai", "azure.ai.openai"],
  ["bedrock", "aws.bedrock"],
  ["codestral", "mistral_ai"],
  ["gemini", "gcp.gemini"],
  ["mistral", "mistral_ai"],
  ["moonshot", "moonshot_ai"],
  ["moonshot-cn", "moonshot_ai"],
  ["vertex-express", "gcp.vertex_ai"],
  ["xai", "x_ai"]
])

export const providerName = (id: string): string => providerNames.get(id) ?? id

/** `wire` is the wire the client spoke. */
export const operationName = (wire: string): string => (wire === "gemini" ? "generate_content" : "chat")

/** Attributes of the request's span. Unknown ones are left out. */
export const spanAttributes = ({ row, method, path }: RequestSummary): ReadonlyArray<[string, AttributeValue]> => {
  const attributes: Array<[string, AttributeValue | null]> = [
    ["gen_ai.operation.name", operationName(row.sourceWire)],
    ["gen_ai.provider.name", row.provider === null ? null : providerName(clean(row.provider))],
    ["gen_ai.request.model", clean(row.requestedModel)],
    ["gen_ai.response.model", row.model === null ? null : clean(row.model)],
    ["gen_ai.usage.input_tokens", row.tokens.in],
    ["gen_ai.usage.output_tokens", row.tokens.out],
    ["gen_ai.usage.cache_read.input_tokens", row.tokens.cacheRead],
    ["gen_ai.usage.cache_creation.input_tokens", row.tokens.cacheWrite],
    ["error.type", row.outcome === "completed" ? null : clean(row.error ?? row.outcome)],
    ["http.request.method", clean(method)],
    ["http.response.status_code", row.status],
    ["url.path", pathOnly(path)],
    ["gateway.request_id", clean(row.requestId)],
    ["gateway.api_key_id", row.apiKeyId === null ? null : clean(row.apiKeyId)],
    ["gateway.combo", row.combo === null ? null : clean(row.combo)],
    ["gateway.wire", row.sourceWire],
    ["gateway.streamed", row.streamed],
    ["gateway.attempts", row.attempts],
    ["gateway.ttft_ms", row.ttftMs],
    ["gateway.cost_usd", row.priced ? row.costNanoUsd / nanoUsdPerUsd : null]
  ]
  return attributes.filter((entry): entry is [string, AttributeValue] => entry[1] !== null)
}

/** Attributes of the span of one call to an upstream. */
export const attemptAttributes = (
  { connectionId, model, outcome, provider, reason, status }: AttemptRecord,
  index: number
): ReadonlyArray<[string, AttributeValue]> => {
  const attributes: Array<[string, AttributeValue | null]> = [
    ["gen_ai.provider.name", providerName(clean(provider))],
    ["gen_ai.request.model", clean(model)],
    ["http.response.status_code", status],
    ["error.type", outcome === "completed" ? null : clean(reason)],
    ["gateway.attempt", index + 1],
    ["gateway.connection_id", clean(connectionId)],
    ["gateway.outcome", outcome]
  ]
  return attributes.filter((entry): entry is [string, AttributeValue] => entry[1] !== null)
}

/** Our metric → the convention's name and unit. */
export const metricNames: ReadonlyMap<string, { readonly name: string; readonly unit: string }> = new Map([
  ["gateway_requests_total", { name: "gateway.requests", unit: "{request}" }],
  ["gateway_upstream_attempts_total", { name: "gateway.upstream.attempts", unit: "{attempt}" }],
  ["gateway_request_duration_seconds", { name: "gen_ai.server.request.duration", unit: "s" }],
  ["gateway_time_to_first_token_seconds", { name: "gen_ai.server.time_to_first_token", unit: "s" }],
  ["gateway_request_tokens", { name: "gen_ai.client.token.usage", unit: "{token}" }],
  ["gateway_request_cost_usd", { name: "gateway.request.cost", unit: "USD" }]
])

/** Our metric label → the convention's attribute. */
export const labelNames: ReadonlyMap<string, string> = new Map([
  ["provider", "gen_ai.provider.name"],
  ["model", "gen_ai.response.model"],
  ["type", "gen_ai.token.type"],
  ["wire", "gateway.wire"],
  ["outcome", "gateway.outcome"],
  ["status_class", "gateway.status_class"]
])
