/**
 * Asks an upstream for its models: every page, and of Ollama what each model can do. Bounded in pages, bytes, models and time, and never
 * with a stored key to a host that neither the registry nor the operator named.
 */
import * as Effect from "effect/Effect"
import { ownerOf } from "../../subjects/proxies/entity.ts"
import type { Connection } from "../../subjects/connections/entity.ts"
import type { ProviderSpec } from "../../contract/domain/Provider.ts"
import type * as Upstream from "../../net/egress/Upstream.ts"
import { modelsEndpointOf, type ModelsEndpoint } from "./Endpoints.ts"
import type { ListedModel } from "./ListedModel.ts"
import { layFacts } from "./ModelFacts.ts"
import { maxModels, nextPage, readModelList, readShown } from "./ModelListing.ts"
import { failureText, parse, reasonOf } from "./UpstreamAnswer.ts"

export interface Listed {
  readonly _tag: "Listed"
  readonly models: ReadonlyArray<ListedModel>
}

export interface NotListed {
  readonly _tag: "NotListed"
  readonly status: number | null
  /** Reason, for people. */
  readonly error: string
  /** True when the same request may succeed a little later. */
  readonly isTransient: boolean
}

export type ModelsResult = Listed | NotListed

const maxPages = 20
const maxBytes = 8 * 1_048_576
const pageTimeoutMs = 10_000
const listTimeoutMs = 30_000
/** Models of an Ollama whose details are asked for, and how many of them at a time. */
const maxShown = 100
const shownAtATime = 4
const shownTimeoutMs = 5_000
const shownBytes = 1_048_576

type Ask = Pick<typeof Upstream.Upstream.Service, "request">

const notListed = (status: number | null, error: string, isTransient: boolean): NotListed => ({
  _tag: "NotListed",
  status,
  error,
  isTransient
})

const isPassingStatus = (status: number): boolean => status >= 500 || status === 408 || status === 425 || status === 429

/** Origin and path of the list, without its query; null when the connection has none. */
export const listSourceOf = (spec: ProviderSpec, connection: Connection): string | null => {
  const endpoint = modelsEndpointOf(spec, connection)
  if (endpoint === null || endpoint._tag === "Left") return null
  const [path = ""] = endpoint.right.path.split("?")
  return endpoint.right.origin + path
}

const withQuery = (path: string, name: string, value: string): string =>
  `${path}${path.includes("?") ? "&" : "?"}${name}=${encodeURIComponent(value)}`

const askPages = Effect.fnUntraced(function* (
  upstream: Ask,
  endpoint: ModelsEndpoint,
  spec: ProviderSpec,
  connection: Connection
) {
  const models = new Map<string, ListedModel>()
  let path = endpoint.path
  let bytesLeft = maxBytes
  for (let page = 0; page < maxPages; page += 1) {
    const answer = yield* Effect.either(
      upstream.request(
        {
          origin: endpoint.origin,
          path,
          method: "GET",
          headers: [...endpoint.headers, "accept", "application/json"],
          body: null,
          secrets: endpoint.secrets,
          owner: ownerOf(connection)
        },
        { timeoutMs: pageTimeoutMs, maxBytes: bytesLeft }
      )
    )
    if (answer._tag === "Left") {
      return notListed(null, failureText(answer.left), answer.left._tag !== "ResponseTooLarge")
    }
    const { status, body } = answer.right
    if (status >= 300) return notListed(status, reasonOf(connection, spec, status, body), isPassingStatus(status))
    const parsed = parse(body)
    const read = readModelList(parsed, maxModels)
    if (read === null) return notListed(status, "The upstream's model list could not be read.", false)
    const before = models.size
    for (const model of read) if (models.size < maxModels && !models.has(model.id)) models.set(model.id, model)
    const next = nextPage(parsed)
    bytesLeft -= body.length
    // A page that brings nothing new would be followed by itself.
    if (next === null || models.size >= maxModels || models.size === before || bytesLeft <= 0) break
    path = withQuery(endpoint.path, next.name, next.value)
  }
  return { _tag: "Listed", models: [...models.values()] } as const
})

/** The models a connection's upstream lists. */
export const fetchModels = (upstream: Ask, spec: ProviderSpec, connection: Connection): Effect.Effect<ModelsResult> => {
  const endpoint = modelsEndpointOf(spec, connection)
  if (endpoint === null) return Effect.succeed(notListed(null, `${spec.name} lists no models.`, false))
  if (endpoint._tag === "Left") return Effect.succeed(notListed(null, endpoint.left.message, false))
  return askPages(upstream, endpoint.right, spec, connection).pipe(
    Effect.timeoutTo({
      duration: listTimeoutMs,
      onSuccess: (result: ModelsResult) => result,
      onTimeout: () => notListed(null, `The upstream did not list its models within ${listTimeoutMs / 1000} s.`, true)
    }),
    Effect.withSpan("ModelAsking.fetchModels")
  )
}

const listEnding = "/api/tags"

/** Ollama's list says nothing of windows and abilities; each model has to be asked for. Null where that is of no use. */
export const fetchModelDetails = (
  upstream: Ask,
  spec: ProviderSpec,
  connection: Connection,
  models: ReadonlyArray<ListedModel>
): Effect.Effect<ReadonlyArray<ListedModel>> | null => {
  const endpoint = modelsEndpointOf(spec, connection)
  if (endpoint === null || endpoint._tag === "Left") return null
  const { headers, origin, path, secrets } = endpoint.right
  if (!path.endsWith(listEnding)) return null
  const show = (model: ListedModel): Effect.Effect<ListedModel> =>
    upstream
      .request(
        {
          origin,
          path: `${path.slice(0, -listEnding.length)}/api/show`,
          method: "POST",
          headers: [...headers, "content-type", "application/json", "accept", "application/json"],
          body: JSON.stringify({ model: model.id }),
          secrets,
          owner: ownerOf(connection)
        },
        { timeoutMs: shownTimeoutMs, maxBytes: shownBytes }
      )
      .pipe(
        Effect.map(({ body, status }) => {
          const shown = status < 300 ? readShown(model.id, parse(body)) : null
          return shown === null ? model : { ...layFacts(shown, model), id: model.id }
        }),
        Effect.orElseSucceed(() => model)
      )
  return Effect.map(Effect.forEach(models.slice(0, maxShown), show, { concurrency: shownAtATime }), (shown) => [
    ...shown,
    ...models.slice(maxShown)
  ]).pipe(
    Effect.timeoutTo({ duration: listTimeoutMs, onSuccess: (found) => found, onTimeout: () => models }),
    Effect.withSpan("ModelAsking.fetchModelDetails")
  )
}
