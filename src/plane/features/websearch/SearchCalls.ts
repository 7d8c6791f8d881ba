/** Makes a search of the web for a request: by a provider of searches, through failover, on the bill and within the limits of the request. */
import * as Effect from "effect/Effect"
import type { Failover } from "../../failover/Failover.ts"
import type { Opening } from "../../request/Opening.ts"
import { resolveFor } from "../../request/RequestedModel.ts"
import type { SearchAsking, ModelSearches } from "../../request/ModelSearches.ts"
import { makeInnerReply } from "../../request/InnerReply.ts"
import { type Exchange, type Work } from "../../request/Exchange.ts"
import type { Served } from "../../settle/Bill.ts"
import type { Trail } from "../../request/Trail.ts"
import { Trail as OwnTrail } from "../../request/Trail.ts"
import type * as Resolutions from "../../routing/resolve/Resolutions.ts"
import { searchModel } from "../../../wire/media/search/Search.ts"
import type { WebSearchAsk } from "../../../wire/canonical/WebSearchAsk.ts"
import { bounded, resultCount, type SearchOutcome } from "./SearchTool.ts"

/** A search, and what it costs. */
export interface Searched {
  readonly outcome: SearchOutcome
  readonly served: Served | null
}

const noExclusions: Trail["exclusions"] = new Map()

const unavailable = (query: string): Searched => ({
  outcome: { query, hits: [], error: "unavailable" },
  served: null
})

/** Returns the members of the request's exchange that a search made for it takes over. */
const exchangeFor = ({ exchange }: Work): Omit<Exchange, "body" | "codec" | "service"> => ({
  requestId: exchange.requestId,
  receivedMs: exchange.receivedMs,
  startedMs: exchange.startedMs,
  wire: "chat",
  method: "POST",
  path: "/v1/search",
  fromPath: null,
  atOnce: null,
  headers: {},
  principal: exchange.principal,
  madeFor: "aside",
  reply: makeInnerReply()
})

export const makeSearchCalls = (
  opening: Pick<typeof Opening.Service, "read" | "decide">,
  failover: Pick<typeof Failover.Service, "run">,
  modelSearches: Pick<typeof ModelSearches.Service, "ask">,
  resolutions: typeof Resolutions.Resolutions.Service
) => {
  const askingOf = (ask: WebSearchAsk, query: string): SearchAsking | null =>
    modelSearches.ask({
      query,
      count: resultCount(ask),
      country: ask.location?.country ?? null,
      allowedDomains: ask.allowedDomains,
      blockedDomains: ask.blockedDomains
    })

  /** Checks whether the caller's key may use a provider of searches that is connected. */
  const isAllowed = ({ exchange: { principal } }: Work, ask: WebSearchAsk): boolean => {
    const asking = askingOf(ask, searchModel)
    if (asking === null) return false
    return !("_tag" in resolveFor(resolutions, { ...asking.exchange, principal, wire: "chat" }, searchModel))
  }

  const search = (work: Work, ask: WebSearchAsk, query: string): Effect.Effect<Searched> =>
    Effect.suspend(() => {
      const { commitment, exchange, prices, trail } = work
      const asking = askingOf(ask, query)
      if (asking === null) return Effect.succeed(unavailable(query))
      const reply = makeInnerReply()
      const noLongerListen = exchange.reply.onClose(reply.leave)
      const read = opening.read({ ...exchangeFor(work), ...asking.exchange, reply })
      const made = "_tag" in read ? read : opening.decide(read, commitment)
      if (!("decision" in made)) {
        noLongerListen()
        return Effect.succeed(unavailable(query))
      }
      const own: Work = { ...made, prices, trail: new OwnTrail() }
      return Effect.map(failover.run(own), (end): Searched => {
        noLongerListen()
        trail.join(own.trail.attempts, noExclusions)
        for (const part of own.trail.charged) trail.charge(part)
        asking.over(exchange, own.trail.attempts)
        if (end._tag !== "Answered" || end.result._tag !== "Completed") return unavailable(query)
        const { firstContentMs, report } = end.result
        const served = { target: end.target, report, firstContentMs }
        const hits = asking.hitsIn(end.result.body.toString())
        return hits === null
          ? { ...unavailable(query), served }
          : { outcome: { query, hits: bounded(hits), error: null }, served }
      })
    })
  return { isAllowed, search }
}
