/** Writes a client's own headers for an answer that another request has paid for. Pure. */
import { noTokens } from "../../../contract/domain/Usage.ts"
import { headerIn, withHeaders } from "../../reply/ReplyHeaders.ts"
import { wrapped } from "../../reply/Wrapped.ts"
import { costFacts } from "../../request/Headers.ts"
import type { ClientReply, Work } from "../../request/Exchange.ts"

/** Writes the cost of the request itself: no tokens, no money. */
export const nothingSpent = (latencyMs: number): Array<string> =>
  costFacts({ tokens: noTokens, costNanoUsd: 0, latencyMs })

/** Writes the head. `marks`: flat name–value list. The cost is in it where the answer has one. */
export const ownHead = (
  { exchange, trail }: Work,
  headers: ReadonlyArray<string>,
  marks: ReadonlyArray<string>,
  latencyMs: number
): Array<string> => {
  const own = ["X-Gateway-Request-Id", exchange.requestId, ...marks, ...trail.headers]
  // The first request's head says whether its answer came from the cache.
  const isHit = headerIn(headers, "x-gateway-cache-hit") === "true"
  if (headerIn(headers, "x-gateway-response-cost") !== null) own.push(...nothingSpent(latencyMs))
  if (isHit) return withHeaders(headers, withHeaders(own, ["X-Gateway-Cache-Hit", "true"]))
  return withHeaders(headers, own)
}

/** Errors name the request that they answer in some wires. */
export const namingItself = (reply: ClientReply, firstId: string, ownId: string): ClientReply => {
  if (firstId.length !== ownId.length) return reply
  let isError = false
  return wrapped(reply, {
    head: (status, headers) => {
      isError = status >= 400
      reply.head(status, headers)
    },
    end: (chunk, trailers) => reply.end(isError ? chunk.toString().replaceAll(firstId, () => ownId) : chunk, trailers)
  })
}
