/**
 * The small calls a person makes about a provider: does this key work, does this connection answer, which models has it.
 * Cold, bounded in time and size, and never with a stored key to a host the registry or the operator did not name.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { type Connection, healthy } from "../domain/Connection.ts"
import type { ProviderSpec } from "../domain/Provider.ts"
import type { WireName } from "../domain/Wire.ts"
import * as Upstream from "../egress/Upstream.ts"
import { scrub } from "../kernel/Scrub.ts"
import * as Catalog from "./Catalog.ts"
import { endpointOf, modelsEndpointOf, type UpstreamEndpoint } from "./Endpoints.ts"
import { readModelList } from "./ModelListing.ts"
import * as ModelLists from "./ModelLists.ts"

export interface TestResult {
  readonly ok: boolean
  readonly status: number | null
  readonly latencyMs: number
  readonly model: string | null
  readonly error: string | null
}

export interface ValidationResult {
  readonly valid: boolean
  readonly status: number | null
  readonly error: string | null
}

export type ModelsResult =
  | { readonly _tag: "Listed"; readonly models: ReadonlyArray<ModelLists.ListedModel> }
  | { readonly _tag: "NotListed"; readonly status: number | null; readonly error: string }

export class ProviderCalls extends Context.Tag("gateway/providers/ProviderCalls")<
  ProviderCalls,
  {
    /** Asks the connection one tiny question. */
    readonly test: (connection: Connection, model: string | null) => Effect.Effect<TestResult>
    /** The connection's models: from memory while fresh, else asked upstream. */
    readonly models: (connection: Connection, options: { readonly refresh: boolean }) => Effect.Effect<ModelsResult>
    /** Whether a key is accepted, without storing anything. Null when the provider is unknown. */
    readonly validate: (
      provider: string,
      apiKey: Redacted.Redacted,
      baseUrl: string | null
    ) => Effect.Effect<ValidationResult | null>
  }
>() {}

const limits: Upstream.RequestLimits = { timeoutMs: 15_000, maxBytes: 8 * 1_048_576 }

/** The smallest request a wire accepts. */
const ping = (wire: WireName, model: string): unknown => {
  switch (wire) {
    case "chat":
    case "messages":
      return { model, messages: [{ role: "user", content: "ping" }], max_tokens: 16, stream: false }
    case "responses":
      return { model, input: "ping", max_output_tokens: 16, stream: false }
    case "gemini":
      return { contents: [{ role: "user", parts: [{ text: "ping" }] }], generationConfig: { maxOutputTokens: 16 } }
    case "ollama":
      return { model, messages: [{ role: "user", content: "ping" }], options: { num_predict: 16 }, stream: false }
  }
}

const parse = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString("utf8"))
  } catch {
    return null
  }
}

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null

/** The upstream's own words about an error status, short and without the credential it was sent. */
const reasonOf = (connection: Connection, status: number, body: Buffer): string => {
  const parsed = parse(body)
  const error = isRecord(parsed) ? (parsed.error ?? parsed.message ?? parsed.detail) : null
  const message = isRecord(error) ? error.message : error
  return typeof message === "string" && message !== ""
    ? `${status}: ${scrub(message, Catalog.secretsOf(connection)).slice(0, 300)}`
    : `The upstream answered ${status}.`
}

const failureText = (error: Upstream.RequestError): string => {
  switch (error._tag) {
    case "TransportFailure":
      return error.message
    case "ResponseTooLarge":
      return "The upstream's answer is too large."
    case "TimedOut":
      return `The upstream did not answer within ${error.timeoutMs / 1000} s.`
  }
}

const jsonRequest = (endpoint: UpstreamEndpoint, model: string, body: unknown): Upstream.UpstreamRequest => ({
  origin: endpoint.origin,
  path: endpoint.path(model, false),
  method: "POST",
  headers: [...endpoint.headers, "content-type", "application/json", "accept", "application/json"],
  body: JSON.stringify(body)
})

export const make = Effect.gen(function* () {
  const upstream = yield* Upstream.Upstream
  const catalog = yield* Catalog.Catalog
  const lists = yield* ModelLists.ModelLists

  const ask = (spec: ProviderSpec, connection: Connection, model: string) => {
    const wire = (connection.wires ?? spec.wires)[0] ?? spec.wires[0]
    const endpoint = endpointOf(spec, connection, wire)
    return endpoint._tag === "Left"
      ? Effect.succeed({ status: null, error: endpoint.left.message })
      : upstream.request(jsonRequest(endpoint.right, model, ping(wire, model)), limits).pipe(
          Effect.map(({ status, body }) => ({
            status,
            error: status < 300 ? null : reasonOf(connection, status, body)
          })),
          Effect.catchAll((error) => Effect.succeed({ status: null, error: failureText(error) }))
        )
  }

  const list = Effect.fn("ProviderCalls.list")(function* (spec: ProviderSpec, connection: Connection) {
    const endpoint = modelsEndpointOf(spec, connection)
    if (endpoint === null) return { _tag: "NotListed", status: null, error: `${spec.name} lists no models.` } as const
    if (endpoint._tag === "Left") return { _tag: "NotListed", status: null, error: endpoint.left.message } as const
    const { origin, path, headers } = endpoint.right
    const answer = yield* Effect.either(
      upstream.request(
        { origin, path, method: "GET", headers: [...headers, "accept", "application/json"], body: null },
        limits
      )
    )
    if (answer._tag === "Left") return { _tag: "NotListed", status: null, error: failureText(answer.left) } as const
    const { status, body } = answer.right
    if (status >= 300) return { _tag: "NotListed", status, error: reasonOf(connection, status, body) } as const
    const models = readModelList(parse(body))
    return models === null
      ? ({ _tag: "NotListed", status, error: "The upstream's model list could not be read." } as const)
      : ({ _tag: "Listed", models } as const)
  })

  const models = Effect.fn("ProviderCalls.models")(function* (
    connection: Connection,
    options: { readonly refresh: boolean }
  ) {
    const nowMs = yield* Clock.currentTimeMillis
    const known = options.refresh ? null : lists.fresh(connection.id, nowMs)
    if (known !== null) return { _tag: "Listed", models: known } as const
    const spec = catalog.current().provider(connection.provider)
    if (spec === null) {
      return { _tag: "NotListed", status: null, error: `The provider '${connection.provider}' is not known.` } as const
    }
    const result: ModelsResult = yield* list(spec, connection)
    if (result._tag === "Listed") lists.learn(connection.id, result.models, nowMs)
    return result
  })

  const modelToTest = Effect.fnUntraced(function* (spec: ProviderSpec, connection: Connection) {
    const declared = connection.defaultModel ?? connection.models[0] ?? spec.models[0]
    if (declared !== undefined) return declared
    const listed = yield* models(connection, { refresh: false })
    return listed._tag === "Listed" ? (listed.models[0]?.id ?? null) : null
  })

  const test = Effect.fn("ProviderCalls.test")(function* (connection: Connection, wanted: string | null) {
    const startedMs = yield* Clock.currentTimeMillis
    const done = (model: string | null, status: number | null, error: string | null) =>
      Effect.map(Clock.currentTimeMillis, (nowMs): TestResult => ({
        ok: error === null,
        status,
        latencyMs: nowMs - startedMs,
        model,
        error
      }))
    const spec = catalog.current().provider(connection.provider)
    if (spec === null) return yield* done(null, null, `The provider '${connection.provider}' is not known.`)
    const model = wanted ?? (yield* modelToTest(spec, connection))
    if (model === null) return yield* done(null, null, "No model is known for this connection; give it a defaultModel.")
    const { status, error } = yield* ask(spec, connection, model)
    return yield* done(model, status, error)
  })

  const validate = Effect.fn("ProviderCalls.validate")(function* (
    provider: string,
    apiKey: Redacted.Redacted,
    baseUrl: string | null
  ) {
    const spec = catalog.current().provider(provider)
    if (spec === null) return null
    const candidate = candidateConnection(spec, apiKey, baseUrl)
    const listed: ModelsResult = yield* list(spec, candidate)
    if (listed._tag === "Listed") return { valid: true, status: 200, error: null }
    if (listed.status === 401 || listed.status === 403) {
      return { valid: false, status: listed.status, error: listed.error }
    }
    // No usable list: a tiny request tells a refused key (401, 403) from any other complaint, such as an unknown model.
    const asked = yield* ask(spec, candidate, spec.models[0] ?? "gateway-validation")
    const refused = asked.status === null || asked.status === 401 || asked.status === 403 || asked.status >= 500
    return { valid: !refused, status: asked.status, error: refused ? asked.error : null }
  })

  return ProviderCalls.of({ test, models, validate })
})

const candidateConnection = (spec: ProviderSpec, apiKey: Redacted.Redacted, baseUrl: string | null): Connection => ({
  ...healthy,
  id: "candidate",
  provider: spec.id,
  name: spec.name,
  authType: Redacted.value(apiKey) === "" ? "none" : "apikey",
  apiKey,
  oauth: null,
  baseUrl,
  wires: null,
  defaultModel: null,
  models: [],
  priority: 0,
  tier: null,
  maxConcurrent: null,
  headers: null,
  quotas: [],
  isActive: true,
  source: "db",
  createdAtMs: 0,
  updatedAtMs: 0
})

export const layer: Layer.Layer<ProviderCalls, never, Upstream.Upstream | Catalog.Catalog | ModelLists.ModelLists> =
  Layer.effect(ProviderCalls, make)
