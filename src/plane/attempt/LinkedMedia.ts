/**
 * Fetches what an answer only names, for a client that asked for the thing itself. An address of the provider's own is asked with its
 * credential; any other one under the public policy, without it. What cannot be fetched is a failure of the target.
 */
import * as Effect from "effect/Effect"
import type * as PublicFetch from "../../net/egress/PublicFetch.ts"
import type * as Upstream from "../../net/egress/Upstream.ts"
import { type AttemptFailure, ownFailure } from "./AttemptResult.ts"
import { jobAddress } from "./JobAddress.ts"
import type { UpstreamCall } from "./UpstreamCall.ts"

export interface LinkedMediaLimits {
  /** Time limit for each address. */
  readonly timeoutMs: number
  /** Most bytes of all together. */
  readonly maxBytes: number
}

/** An answer has fewer. */
const mostLinks = 64

/** Headers of the call without those that belong to its body. */
const headersFor = ({ request }: UpstreamCall): ReadonlyArray<string> =>
  request.headers.filter((_, i) => !/^(?:content-type|accept)$/.test(request.headers[i - (i % 2)] ?? ""))

const notFetched = (reason: string): AttemptFailure =>
  ownFailure(502, "answer_not_fetched", `What the upstream has made could not be fetched from it: ${reason}`)

const reasonOf = (error: PublicFetch.PublicFetchError): string => {
  switch (error._tag) {
    case "UrlBlocked":
      return "its address may not be called."
    case "RedirectRefused":
      return "its address redirects too often, or to where it must not."
    case "ResponseTooLarge":
      return `it is larger than ${Math.floor(error.limitBytes / 1_048_576)} MiB (setting media.maxAnswerMb).`
    case "TimedOut":
      return `it took longer than ${error.timeoutMs} ms.`
    case "TransportFailure":
      return "the server could not be reached, or broke off."
  }
}

export const makeLinkedMedia = (
  upstream: Pick<typeof Upstream.Upstream.Service, "request">,
  publicFetch: Pick<typeof PublicFetch.PublicFetch.Service, "get">
) => {
  const ask = (call: UpstreamCall, url: string, limits: LinkedMediaLimits) => {
    const address = jobAddress(url, call.request.origin, undefined)
    if (address === null) return Effect.fail(notFetched("its address cannot be read."))
    const asked =
      address._tag === "Own"
        ? upstream.request(
            {
              origin: address.origin,
              path: address.path,
              method: "GET",
              headers: headersFor(call),
              body: null,
              secrets: call.request.secrets,
              owner: call.request.owner
            },
            limits
          )
        : publicFetch.get(address.url, limits, ({ status }) => status === 200)
    return Effect.mapError(asked, (error) => notFetched(reasonOf(error)))
  }

  /** The bytes by their addresses. One after the other: they share one limit. */
  const fetchAll = Effect.fn("LinkedMedia.fetchAll")(function* (
    call: UpstreamCall,
    urls: ReadonlyArray<string>,
    { maxBytes, timeoutMs }: LinkedMediaLimits
  ) {
    const fetched = new Map<string, Buffer>()
    let left = maxBytes
    for (const url of new Set(urls.slice(0, mostLinks))) {
      const { body, status } = yield* ask(call, url, { timeoutMs, maxBytes: left })
      if (status !== 200) return yield* Effect.fail(notFetched(`the server answered ${status}.`))
      if (body.length === 0) return yield* Effect.fail(notFetched("it is empty."))
      left -= body.length
      fetched.set(url, body)
    }
    return fetched
  })
  return { fetchAll }
}

export type LinkedMedia = ReturnType<typeof makeLinkedMedia>
