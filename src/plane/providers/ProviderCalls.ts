/**
 * The small calls a person makes about a provider: does this key work, does this connection answer, which models has it.
 * Cold, bounded in time and size, and never with a stored key to a host the registry or the operator did not name.
 */
import { converses } from "./ChatModels.ts"
import { unknownFacts } from "./ModelFacts.ts"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { ownerOf } from "../../subjects/proxies/entity.ts"
import type { Connection } from "../../subjects/connections/entity.ts"
import { isForSearchesOnly, type ProviderSpec } from "../../contract/domain/Provider.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import { announced, Events } from "../../observe/Events.ts"
import * as Upstream from "../../net/egress/Upstream.ts"
import * as Catalog from "./Catalog.ts"
import { endpointOf, type UpstreamEndpoint, withQuery } from "./Endpoints.ts"
import { fetchModelDetails, fetchModels, listSourceOf, type ModelsResult } from "./ModelListFetch.ts"
import { layFacts } from "./ModelFacts.ts"
import * as ModelLists from "./ModelLists.ts"
import type { RefreshFailed } from "./oauth/RefreshFailed.ts"
import * as TokenRefresh from "./oauth/TokenRefresh.ts"
import { failureText, reasonOf } from "./UpstreamAnswer.ts"
import { wholeRequest } from "../../wire/media/WholeRequest.ts"
import { bodyOf, searches } from "../../wire/media/search/Codec.ts"
import { emptySearch, type Search, searchModel } from "../../wire/media/search/Search.ts"

export type { ModelsResult } from "./ModelListFetch.ts"

export interface TestResult {
  readonly ok: boolean
  readonly status: number | null
  readonly latencyMs: number
  readonly model: string | null
  readonly error: string | null
  /** Models the upstream lists, asked at the same time; null when it does not say. */
  readonly models: number | null
  readonly modelsError: string | null
  /** Calls that were answered, and so may have cost something. */
  readonly answered: ReadonlyArray<AnsweredCall>
}

/** Findings of a test, without the answers themselves. */
export type TestFindings = Omit<TestResult, "answered">

export interface ValidationResult {
  readonly valid: boolean
  readonly status: number | null
  readonly error: string | null
  /** Milliseconds until the provider had answered first. */
  readonly latencyMs: number
  /** Models that it lists; null: it lists none, or refuses. */
  readonly listed: ReadonlyArray<string> | null
  /** Calls that were answered, and so may have cost something. */
  readonly answered: ReadonlyArray<AnsweredCall>
}

/** A small question that an upstream has answered. */
export interface AnsweredCall {
  readonly spec: ProviderSpec
  /** Null: of a connection that is not made yet. */
  readonly connectionId: string | null
  readonly model: string
  readonly wire: WireName
  readonly status: number
  /** The answer as it came. */
  readonly body: Buffer
  /** Number of bytes sent. */
  readonly sentBytes: number
  /** Epoch milliseconds. */
  readonly startedMs: number
  readonly latencyMs: number
}

/** A question of a person to a connection. */
export interface Question {
  readonly model: string
  readonly prompt: string
}

/** Result of a question. */
export interface QuestionResult {
  readonly error: string | null
  readonly latencyMs: number
  /** Null: it was not answered. */
  readonly answered: AnsweredCall | null
}

/** A connection as it would be stored. */
export interface Draft {
  readonly connection: Connection
  /** Provider of the connection, which need not be stored either. */
  readonly spec: ProviderSpec
  /** True when its access token is the stored account's, which may be renewed for the question; a token that is not stored is asked with as it is. */
  readonly isStoredLogin: boolean
}

export class ProviderCalls extends Context.Tag("gateway/plane/providers/ProviderCalls")<
  ProviderCalls,
  {
    /** Asks the connection one tiny question. */
    readonly test: (connection: Connection, model: string | null) => Effect.Effect<TestResult>
    /** The connection's models: what was learned while it is fresh, else asked upstream and kept. Ollama's details follow of themselves. */
    readonly models: (connection: Connection, options: { readonly refresh: boolean }) => Effect.Effect<ModelsResult>
    /** Checks whether a connection that is not stored would be accepted; nothing is stored. */
    readonly validate: (draft: Draft) => Effect.Effect<ValidationResult>
    /** Asks a connection that is not stored a person's question. */
    readonly put: (draft: Draft, question: Question) => Effect.Effect<QuestionResult>
    /** Checks whether a connection's own credential is accepted. Null when its provider is unknown. */
    readonly check: (connection: Connection) => Effect.Effect<ValidationResult | null>
  }
>() {}

/** Time that a test waits for the list of models beyond its own answer. */
const listPatience = "5 seconds"

const listedIn = (result: ModelsResult): ReadonlyArray<string> =>
  result._tag === "Listed" ? result.models.map(({ id }) => id) : []

/** The model that is asked a question: the first that can answer it, else the first; null: there is none. */
const questionable = (spec: ProviderSpec, models: ReadonlyArray<string>): string | null =>
  models.find((model) => converses(model, unknownFacts, spec)) ?? models[0] ?? null

const limits: Upstream.RequestLimits = { timeoutMs: 15_000, maxBytes: 8 * 1_048_576 }

/** A person waits for an answer to read. */
const questionLimits: Upstream.RequestLimits = { timeoutMs: 60_000, maxBytes: 1_048_576 }

interface Words {
  readonly prompt: string
  readonly maxTokens: number
}

const ping: Words = { prompt: "ping", maxTokens: 16 }

/** Enough for a model that thinks before it answers. */
const questionTokens = 1_024

/** The smallest request of a wire that says something. */
const saying = (wire: WireName, model: string, { maxTokens, prompt }: Words): unknown => {
  switch (wire) {
    case "chat":
    case "messages":
      return { model, messages: [{ role: "user", content: prompt }], max_tokens: maxTokens, stream: false }
    case "responses":
      return { model, input: prompt, max_output_tokens: maxTokens, stream: false }
    case "gemini":
      return {
        contents: [{ role: "user", parts: [{ text: prompt }] }],
        generationConfig: { maxOutputTokens: maxTokens }
      }
    case "ollama":
      return {
        model,
        messages: [{ role: "user", content: prompt }],
        options: { num_predict: maxTokens },
        stream: false
      }
  }
}

const jsonRequest = (endpoint: UpstreamEndpoint, model: string, body: unknown): Upstream.UnownedRequest => ({
  origin: endpoint.origin,
  path: endpoint.path(model, false),
  method: "POST",
  headers: [...endpoint.headers, "content-type", "application/json", "accept", "application/json"],
  body: JSON.stringify(body),
  secrets: endpoint.secrets
})

/** An unknown model, or a request that is too small, says nothing of the key. */
const refusesKey = (status: number | null): boolean =>
  status === null || status === 401 || status === 403 || status >= 500

/** Nothing can be wrong with the smallest search; one that is not paid for, or comes too soon, has a good key. */
const refusesSearches = ({
  error,
  status
}: {
  readonly error: string | null
  readonly status: number | null
}): boolean => error !== null && status !== 402 && status !== 429

/** The smallest search. */
const trial: Search = { ...emptySearch, query: "ping", maxResults: 1 }

/** Null when the provider has no searches. */
const searchRequest = (
  spec: ProviderSpec,
  { headers, media, secrets }: UpstreamEndpoint
): Upstream.UnownedRequest | null => {
  const codec = searches.peer?.("chat", bodyOf(trial, searchModel), spec.media.search?.adapter ?? null) ?? null
  if (codec === null) return null
  const encoded = codec.encodeRequest(wholeRequest({}, searchModel), {
    model: searchModel,
    stream: false,
    maxOutputTokens: null,
    reasoning: null
  })
  const { method = "POST", place } = encoded
  const { origin, path } = media("search", place?.values ?? {})
  const isGet = method === "GET"
  return {
    origin,
    path: withQuery(path, place?.query ?? ""),
    method,
    headers: [...headers, ...(isGet ? [] : ["content-type", "application/json"]), "accept", "application/json"],
    body: isGet ? null : JSON.stringify(encoded.body),
    secrets
  }
}

/** The access token is over and there is no new one: the upstream is not asked. */
const notRenewed = (failed: RefreshFailed): Extract<ModelsResult, { readonly _tag: "NotListed" }> => ({
  _tag: "NotListed",
  status: null,
  error: failed.message,
  isTransient: failed._tag === "RefreshTransient"
})

const none: ReadonlyArray<AnsweredCall> = []

/** The id of a connection that is not made yet. */
export const candidateId = "candidate"

/** Result of a request. */
interface Asked {
  readonly status: number | null
  readonly error: string | null
  readonly answered: ReadonlyArray<AnsweredCall>
}

const notAsked = (error: string): Asked => ({ status: null, error, answered: none })

type Asking = Pick<typeof Upstream.Upstream.Service, "request">

const services = Effect.all({
  upstream: Upstream.Upstream,
  catalog: Catalog.Catalog,
  events: Events,
  lists: ModelLists.ModelLists,
  tokens: TokenRefresh.TokenRefresh
})
interface Deps extends Effect.Effect.Success<typeof services> {
  readonly control: Asking
}

const ask = (
  by: Asking,
  spec: ProviderSpec,
  connection: Connection,
  model: string,
  { words = ping, within = limits }: { readonly words?: Words; readonly within?: Upstream.RequestLimits } = {}
) => {
  const wire = (connection.wires ?? spec.wires)[0] ?? spec.wires[0]
  const endpoint = endpointOf(spec, connection, wire)
  if (endpoint._tag === "Left") return Effect.succeed(notAsked(endpoint.left.message))
  const request = isForSearchesOnly(spec)
    ? searchRequest(spec, endpoint.right)
    : jsonRequest(endpoint.right, model, saying(wire, model, words))
  if (request === null) return Effect.succeed(notAsked(`${spec.name} has no endpoint that can be tried.`))
  const connectionId = connection.id === candidateId ? null : connection.id
  const sentBytes = typeof request.body === "string" ? Buffer.byteLength(request.body) : 0
  return Effect.gen(function* () {
    const startedMs = yield* Clock.currentTimeMillis
    const { body, status } = yield* by.request({ ...request, owner: ownerOf(connection) }, within)
    if (status >= 300)
      return { status, error: reasonOf(connection, spec, status, body), answered: none } satisfies Asked
    const latencyMs = (yield* Clock.currentTimeMillis) - startedMs
    const call: AnsweredCall = { spec, connectionId, model, wire, status, body, sentBytes, startedMs, latencyMs }
    return { status, error: null, answered: [call] } satisfies Asked
  }).pipe(Effect.catchAll((error) => Effect.succeed(notAsked(failureText(error)))))
}

/** Completes a list with details that were learned before, until the details are fetched again. */
const withKnown = ({ lists }: Deps, connectionId: string, listed: ReadonlyArray<ModelLists.ListedModel>) =>
  listed.map((model) => {
    const before = lists.find(connectionId, model.id)
    return before === null ? model : { ...layFacts(model, before), id: model.id }
  })

const asked = Effect.fnUntraced(function* (deps: Deps, spec: ProviderSpec, connection: Connection) {
  const { lists, tokens, upstream } = deps
  const { id } = connection
  const usable = yield* Effect.either(tokens.usable(connection))
  const result = usable._tag === "Left" ? notRenewed(usable.left) : yield* fetchModels(upstream, spec, usable.right)
  const source = listSourceOf(spec, connection) ?? ""
  if (result._tag === "NotListed") {
    yield* lists.failed(id, source, result.error)
    return result
  }
  const asked = usable._tag === "Left" ? connection : usable.right
  const details = fetchModelDetails(upstream, spec, asked, result.models)
  const nowMs = yield* Clock.currentTimeMillis
  // The names are of use before all details are there.
  yield* lists.learn(id, source, details === null ? result.models : withKnown(deps, id, result.models), nowMs)
  if (details === null) return result
  const models = yield* details
  yield* lists.learn(id, source, models, nowMs)
  return { ...result, models }
})

const askAndKeep = (deps: Deps, spec: ProviderSpec, connection: Connection): Effect.Effect<ModelsResult> =>
  announced(
    deps.events,
    { kind: "modelList", id: connection.id },
    asked(deps, spec, connection),
    ({ _tag }) => _tag === "Listed"
  )

const models = Effect.fn("ProviderCalls.models")(function* (
  deps: Deps,
  connection: Connection,
  options: { readonly refresh: boolean }
) {
  const { catalog, lists } = deps
  const nowMs = yield* Clock.currentTimeMillis
  const known = options.refresh ? null : lists.fresh(connection.id, nowMs)
  if (known !== null) return { _tag: "Listed", models: known } satisfies ModelsResult
  const spec = catalog.current().provider(connection.provider)
  return spec === null
    ? ({
        _tag: "NotListed",
        status: null,
        error: `The provider '${connection.provider}' is not known.`,
        isTransient: false
      } satisfies ModelsResult)
    : yield* askAndKeep(deps, spec, connection)
})

const test = Effect.fn("ProviderCalls.test")(function* (
  deps: Deps,
  connection: Connection,
  requestedModel: string | null
) {
  const { catalog, tokens, upstream } = deps
  const startedMs = yield* Clock.currentTimeMillis
  const listing = yield* Effect.fork(models(deps, connection, { refresh: true }))
  const done = Effect.fnUntraced(function* (model: string | null, { answered, error, status }: Asked) {
    const nowMs = yield* Clock.currentTimeMillis
    const listed = Option.getOrNull(yield* Effect.timeoutOption(Fiber.join(listing), listPatience))
    return {
      ok: error === null,
      status,
      latencyMs: nowMs - startedMs,
      model,
      error,
      models: listed?._tag === "Listed" ? listed.models.length : null,
      modelsError:
        listed === null
          ? "The upstream has not listed its models yet."
          : listed._tag === "Listed"
            ? null
            : listed.error,
      answered
    } satisfies TestResult
  })
  const spec = catalog.current().provider(connection.provider)
  if (spec === null) return yield* done(null, notAsked(`The provider '${connection.provider}' is not known.`))
  const model = isForSearchesOnly(spec)
    ? searchModel
    : (requestedModel ??
      connection.defaultModel ??
      questionable(spec, [...connection.models, ...spec.models]) ??
      questionable(spec, listedIn(yield* Fiber.join(listing))))
  if (model === null)
    return yield* done(null, notAsked("No model is known for this connection; give it a defaultModel."))
  const usable = yield* Effect.either(tokens.usable(connection))
  if (usable._tag === "Left") return yield* done(model, notAsked(usable.left.message))
  return yield* done(model, yield* ask(upstream, spec, usable.right, model))
})

/** Some providers list their models to every caller: such a list says nothing about a key. */
const listsToAnybody = ({ control }: Deps, spec: ProviderSpec, connection: Connection) =>
  connection.apiKey === null && connection.oauth === null && connection.headers === null
    ? Effect.succeed(false)
    : Effect.map(
        fetchModels(control, spec, { ...connection, authType: "none", apiKey: null, oauth: null, headers: null }),
        ({ _tag }) => _tag === "Listed"
      )

const judge = Effect.fnUntraced(function* (deps: Deps, spec: ProviderSpec, connection: Connection) {
  const { control } = deps
  const startedMs = yield* Clock.currentTimeMillis
  const listed = yield* fetchModels(control, spec, connection)
  const latencyMs = (yield* Clock.currentTimeMillis) - startedMs
  const found = { latencyMs, listed: listed._tag === "Listed" ? listedIn(listed) : null }
  if (listed._tag === "Listed" && !(yield* listsToAnybody(deps, spec, connection))) {
    return { valid: true, status: 200, error: null, answered: none, ...found } satisfies ValidationResult
  }
  if (listed._tag === "NotListed" && (listed.status === 401 || listed.status === 403)) {
    const { error, status } = listed
    return { valid: false, status, error, answered: none, ...found } satisfies ValidationResult
  }
  // A tiny request distinguishes a refused key (401, 403) from any other complaint, such as an unknown model.
  const model =
    connection.defaultModel ??
    questionable(spec, [...connection.models, ...spec.models]) ??
    questionable(spec, listedIn(listed)) ??
    "gateway-validation"
  const asked = yield* ask(control, spec, connection, model)
  const refused = isForSearchesOnly(spec) ? refusesSearches(asked) : refusesKey(asked.status)
  const { answered, error, status } = asked
  return { valid: !refused, status, error: refused ? error : null, answered, ...found } satisfies ValidationResult
})

export const make = Effect.gen(function* () {
  const all = yield* services
  const control: Asking = { request: all.upstream.controlRequest }
  const deps: Deps = { ...all, control }

  const validate = Effect.fn("ProviderCalls.validate")(({ connection, isStoredLogin, spec }: Draft) =>
    isStoredLogin
      ? Effect.matchEffect(deps.tokens.usable(connection), {
          onFailure: ({ message }): Effect.Effect<ValidationResult> =>
            Effect.succeed({ valid: false, status: null, error: message, latencyMs: 0, listed: null, answered: none }),
          onSuccess: (usable) => judge(deps, spec, usable)
        })
      : judge(deps, spec, connection)
  )

  const put = Effect.fn("ProviderCalls.put")(function* (draft: Draft, { model, prompt }: Question) {
    const { connection, isStoredLogin, spec } = draft
    const startedMs = yield* Clock.currentTimeMillis
    const usable = isStoredLogin ? yield* Effect.either(deps.tokens.usable(connection)) : Either.right(connection)
    const words = { prompt, maxTokens: questionTokens }
    const { answered, error } =
      usable._tag === "Left"
        ? notAsked(usable.left.message)
        : yield* ask(control, spec, usable.right, model, { words, within: questionLimits })
    const latencyMs = (yield* Clock.currentTimeMillis) - startedMs
    return { error, latencyMs, answered: answered[0] ?? null } satisfies QuestionResult
  })

  const check = Effect.fn("ProviderCalls.check")((connection: Connection) => {
    const spec = deps.catalog.current().provider(connection.provider)
    return spec === null ? Effect.succeed(null) : validate({ connection, spec, isStoredLogin: true })
  })

  return ProviderCalls.of({
    test: (connection, requestedModel) => test(deps, connection, requestedModel),
    models: (connection, options) => models(deps, connection, options),
    validate,
    put,
    check
  })
})

export const layer: Layer.Layer<ProviderCalls, never, Effect.Effect.Context<typeof services>> = Layer.effect(
  ProviderCalls,
  make
)
