/** A search that a tool makes in a caller's name, through the service that answers `POST /v1/search`. */
import * as Effect from "effect/Effect"
import type { InnerRequests } from "../../plane/InnerRequests.ts"
import { wrapped } from "../../plane/reply/Wrapped.ts"
import type { Searches } from "../../plane/search/Searches.ts"
import { objectOr, parseJson } from "../../wire/json/Json.ts"
import { searches as searchCodec } from "../../wire/media/search/Codec.ts"
import type { AskSearch } from "./tools/Search.ts"

export const makeAskSearch =
  (searches: typeof Searches.Service, inner: Pick<typeof InnerRequests.Service, "ask">): AskSearch =>
  (body, principal) =>
    Effect.map(
      inner.ask({
        behalf: { principal, madeFor: "client", category: "search" },
        path: "/mcp",
        body,
        format: { wire: "chat", codec: searchCodec },
        by: (exchange, over) => {
          const { reply } = exchange
          // Who leaves does not wait for a search that others wait for, too.
          reply.onClose(over)
          searches.serve({
            ...exchange,
            reply: wrapped(reply, {
              end: (chunk, trailers) => {
                reply.end(chunk, trailers)
                over()
              },
              cut: over
            })
          })
        }
      }),
      ({ body: answer, status }) => ({ status, body: objectOr(parseJson(answer)) })
    )
