/** Small answers about the models on offer, and to other questions that a client may ask before its first request. */
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import type { ListingRoute, QuestionRoute } from "../../contract/EdgeRoutes.ts"
import { version } from "../../platform/Version.ts"
import { makeCallers } from "../edge/Callers.ts"
import * as IdGen from "../../platform/IdGen.ts"
import * as Timers from "../../platform/Timers.ts"
import * as OpenStreams from "../listening/OpenStreams.ts"
import * as ModelCatalogue from "../../plane/catalogue/ModelCatalogue.ts"
import * as Catalog from "../../plane/providers/Catalog.ts"
import { Flags } from "../../subjects/flags/service.ts"
import { SearchCounts } from "../../plane/search/SearchCounts.ts"
import type { Parameters } from "../../contract/Routes.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { queryOf } from "../files/ListingPages.ts"
import { listingOf } from "../edge/Listings.ts"
import { requestedPrefix } from "../../subjects/auth/Credentials.ts"
import { isOfKind } from "../edge/KindListings.ts"
import { registry } from "../../plane/providers/Registry.ts"
import { providerOf } from "../edge/ProviderScope.ts"
import { listProviders } from "../../plane/search/SearchProviders.ts"
import { handshakeAnswer } from "../edge/Handshake.ts"
import { NodeReply } from "../listening/NodeReply.ts"
import { refusePlain, sendCoded } from "../edge/PlainAnswers.ts"

/** Tells what the gateway is, below the path that its caller used. */
export const rootOf = (prefix: string) => ({ name: "gateway", version, docs: `${prefix}/openapi.json` })

export const make = Effect.gen(function* () {
  const { identify } = yield* makeCallers
  const ids = yield* IdGen.IdGen
  const timers = yield* Timers.Timers
  const streams = yield* OpenStreams.OpenStreams
  const catalogue = yield* ModelCatalogue.ModelCatalogue
  const catalog = yield* Catalog.Catalog
  const flags = yield* Flags
  const searchCounts = yield* SearchCounts

  /** The answer of a GET route, or why there is none. */
  const answerOf = (
    request: IncomingMessage,
    route: ListingRoute | QuestionRoute,
    parameters: Parameters,
    principal: Principal
  ) => {
    const query = queryOf(request.url ?? "/")
    const entries = () => catalogue.entries(principal._tag === "Key" ? principal.key : null)
    const modelsWhere = (keep: (entry: ModelCatalogue.CatalogueEntry) => boolean) =>
      listingOf("inference.models", "", entries().filter(keep), query)
    switch (route.key) {
      case "inference.editor":
        return rootOf(requestedPrefix(request.headers))
      case "inference.embeddingModels":
      case "inference.imageModels":
      case "inference.videoModels":
      case "inference.musicModels": {
        const { key } = route
        return modelsWhere((entry) => isOfKind(key, entry, registry.get(entry.owned_by) ?? null))
      }
      case "inference.providerModels": {
        const provider = providerOf(catalog, parameters)
        return provider instanceof Error ? provider : modelsWhere(({ owned_by: owner }) => owner === provider?.id)
      }
      case "inference.searchProviders":
        return { providers: listProviders(catalog.current()) }
      case "inference.searchAnalytics":
        return { providers: searchCounts.list(principal) }
      case "inference.handshake":
        return handshakeAnswer({
          query,
          headers: request.headers,
          principal,
          enabled: flags.isOn("GATEWAY_UPSTREAM_WS_ENABLED"),
          keysRequired: flags.isOn("REQUIRE_API_KEY")
        })
      default:
        return listingOf(route.key, parameters["*"] ?? "", entries(), query)
    }
  }

  return (
    route: ListingRoute | QuestionRoute,
    parameters: Parameters,
    request: IncomingMessage,
    response: ServerResponse
  ): void => {
    const reply = new NodeReply(response, streams)
    const nowMs = timers.nowMs()
    const requestId = ids.next(nowMs)
    const identity = identify(request, nowMs, route, requestId)
    const answer = identity instanceof Error ? identity : answerOf(request, route, parameters, identity)
    if (answer instanceof Error) refusePlain(reply, requestId, route, answer)
    else {
      const body = JSON.stringify(answer)
      const vary = response.getHeader("vary")?.toString()
      sendCoded(reply, requestId, request.headers, { status: 200, type: "application/json", body }, vary)
    }
  }
})
