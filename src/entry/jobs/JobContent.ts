/**
 * The bytes of a video or song that only the provider's credential opens, passed through as they come. The client's pace is the
 * provider's; content longer than the limit is refused, or cut where its length was not given.
 */
import type { CallOwner } from "../../subjects/proxies/entity.ts"
import { InvalidRequest } from "../../contract/domain/Errors.ts"
import type * as Upstream from "../../net/egress/Upstream.ts"
import type { UpstreamEndpoint } from "../../plane/providers/Endpoints.ts"
import { jobAddress } from "../../plane/attempt/JobAddress.ts"
import type { ClientReply } from "../../plane/request/Exchange.ts"
import { identityHeaders, mediaTypeOf } from "../../plane/request/Headers.ts"
import type { Timers } from "../../platform/Timers.ts"

/** Reason for which there is nothing to pass through. */
export interface ContentProblem {
  readonly status: number
  readonly code: string
  readonly message: string
}

export interface ContentRequest {
  readonly requestId: string
  readonly reply: ClientReply
  /** Endpoint of the connection that made it. */
  readonly endpoint: UpstreamEndpoint
  readonly owner: CallOwner
  /** Address of the bytes. */
  readonly address: string
  readonly maxBytes: number
  /** Milliseconds that the provider may be silent. */
  readonly silentMs: number
  /** Called once, and only as long as nothing was sent to the client. */
  readonly refuse: (problem: ContentProblem) => void
}

const problem = (status: number, code: string, message: string): ContentProblem => ({ status, code, message })

const unreachable = problem(502, "upstream_error", "The provider could not be asked for the bytes. Try again.")
const gone = problem(410, "content_gone", "The provider has the bytes no longer. Make them anew.")
const late = problem(504, "timeout", "The provider did not send the bytes in time. Try again.")

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Variants that OpenAI keeps of a video beside the video itself. */
const variants = ["thumbnail", "spritesheet"] as const
export type Variant = (typeof variants)[number]

/** Reads the variant; null: the video itself. */
export const variantOf = (query: URLSearchParams): Variant | InvalidRequest | null => {
  const asked = query.get("variant") ?? "video"
  if (asked === "video") return null
  const problem = `must be video, ${variants.join(" or ")}`
  return (
    variants.find((variant) => variant === asked) ??
    new InvalidRequest({
      message: `variant: ${problem}`,
      param: "variant",
      details: [{ field: "variant", message: problem }]
    })
  )
}

/** Returns the provider's address for a variant of the content at `address`. */
export const contentAddress = (address: string, variant: Variant | null): string => {
  if (variant === null || !URL.canParse(address)) return address
  const url = new URL(address)
  url.searchParams.set("variant", variant)
  return url.href
}

export const streamContent = (
  upstream: Pick<typeof Upstream.Upstream.Service, "dispatch">,
  timers: typeof Timers.Service,
  { address, endpoint, maxBytes, owner, refuse, reply, requestId, silentMs }: ContentRequest
): void => {
  const place = jobAddress(address, endpoint.origin, undefined)
  // The connection has another address by now: its credential belongs there.
  if (place?._tag !== "Own") return refuse(gone)
  let isOver = false
  let hasBegun = false
  let isPaused = false
  let sentBytes = 0

  const finish = (then: () => void): void => {
    if (isOver) return
    isOver = true
    timer.cancel()
    noLongerDrain()
    noLongerClose()
    then()
  }
  const giveUp = (why: ContentProblem): void =>
    finish(() => {
      call.abort()
      if (hasBegun) reply.cut()
      else refuse(why)
    })
  const tooLarge = (): ContentProblem =>
    problem(
      502,
      "answer_too_large",
      `The bytes are more than ${Math.floor(maxBytes / 1_048_576)} MiB (setting media.maxAnswerMb).`
    )

  const timer = timers.after(silentMs, () => (isPaused ? timer.restart() : giveUp(late)))
  const call = upstream.dispatch(
    {
      origin: place.origin,
      path: place.path,
      method: "GET",
      headers: [...endpoint.headers, "accept", "*/*", "accept-encoding", "identity"],
      body: null,
      secrets: endpoint.secrets,
      owner
    },
    {
      onHeaders: (status, headers) => {
        const location = headers.get("location")
        if (redirects.has(status) && location !== null && URL.canParse(location, address)) {
          // A signed address: the client fetches it without the credential.
          return finish(() => {
            call.abort()
            const to = new URL(location, address)
            if (to.origin === endpoint.origin) return refuse(unreachable)
            reply.head(302, [...identityHeaders(requestId), "Location", to.href, "Content-Length", "0"])
            reply.end("")
          })
        }
        if (status !== 200) return giveUp(status === 404 || status === 410 ? gone : unreachable)
        const length = headers.get("content-length")
        if (Number(length ?? 0) > maxBytes) return giveUp(tooLarge())
        hasBegun = true
        const answer = identityHeaders(requestId)
        answer.push("Content-Type", mediaTypeOf(headers.get("content-type") ?? "video/mp4"))
        if (length !== null && /^\d{1,15}$/.test(length)) answer.push("Content-Length", length)
        reply.head(200, answer)
      },
      onData: (chunk) => {
        if (isOver) return true
        sentBytes += chunk.length
        if (sentBytes > maxBytes) {
          giveUp(tooLarge())
          return true
        }
        timer.restart()
        isPaused = !reply.write(chunk)
        return !isPaused
      },
      onEnd: () => finish(() => (hasBegun ? reply.end("") : refuse(unreachable))),
      onFail: () => giveUp(unreachable)
    }
  )
  const noLongerDrain = reply.onDrain(() => {
    isPaused = false
    call.resume()
  })
  const noLongerClose = reply.onClose(() => finish(() => call.abort()))
}
