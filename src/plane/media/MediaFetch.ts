/**
 * Fetches pictures and files that a conversation only links to, for targets that need the bytes. Every link is fetched under the
 * strict outbound policy; what fails is the client's 400, naming the link without its query (it may hold a signature) and the reason.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../../kernel/Lane.ts"
import type { ContentPermission } from "../../contract/domain/ContentPermission.ts"
import { blockMessage, maxUrlChars } from "../../net/egress/OutboundPolicy.ts"
import * as PublicFetch from "../../net/egress/PublicFetch.ts"
import type { RequestLimits } from "../../net/egress/Upstream.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import * as Timers from "../../platform/Timers.ts"
import type { Conversation, MediaSource } from "../../wire/canonical/Conversation.ts"
import { imageTypeOf } from "../../wire/canonical/ImageType.ts"
import { cacheKey, makeMediaCache } from "./MediaCache.ts"
import { linksToFetch, withSources } from "./MediaNeeds.ts"

/** A link could not be made into bytes. Its cause is the request. */
export class MediaNotFetched extends Data.TaggedError("MediaNotFetched")<{
  readonly code: "media_not_fetched" | "too_many_links"
  readonly message: string
}> {}

export class MediaFetch extends Context.Tag("gateway/plane/media/MediaFetch")<
  MediaFetch,
  {
    /**
     * The conversation with the bytes of every link that `target` cannot follow (`MediaNeeds.needsFetch`). `owner` is the API key's
     * id, empty without one: what was fetched for one key is not shown to another.
     */
    readonly inlineMedia: (
      conversation: Conversation,
      target: WireName,
      owner: string,
      /** Permission to store the fetched content for the next turns. */
      permission: ContentPermission | null
    ) => Effect.Effect<Conversation, MediaNotFetched>
  }
>() {}

export const maxLinks = 10
const limits: RequestLimits = { timeoutMs: 10_000, maxBytes: 20 * 1_048_576 }
/** Links of one request fetched at the same time, and links of all requests. */
const atOnce = 4
const atOnceInAll = 32

/** Types that say nothing about the content. */
const vague: ReadonlySet<string> = new Set(["", "application/octet-stream", "binary/octet-stream"])

const essence = (contentType: string | null): string => (contentType ?? "").split(";", 1)[0]?.trim().toLowerCase() ?? ""

const isWelcome = (type: string): boolean => /^(?:image|audio|text|video)\//.test(type) || type === "application/pdf"

const isWanted = ({ headers, status }: PublicFetch.Head): boolean => {
  const type = essence(headers.get("content-type"))
  return status === 200 && (vague.has(type) || isWelcome(type))
}

const headBytes = 48

/** Checks for the beginnings of the containers that videos come in: ISO media, Matroska and WebM, AVI, MPEG, Flash. */
const isFilm = (head: Buffer): boolean => {
  const text = head.toString("latin1")
  return (
    text.startsWith("ftyp", 4) ||
    text.startsWith("\u001aE\u00df\u00a3") ||
    (text.startsWith("RIFF") && text.startsWith("AVI ", 8)) ||
    text.startsWith("FLV") ||
    text.startsWith("\u0000\u0000\u0001\u00b3") ||
    text.startsWith("\u0000\u0000\u0001\u00ba")
  )
}

/** The type that the first bytes prove, else the one that was said; null when it is none of the welcome ones. */
const typeOf = (body: Buffer, said: string): string | null => {
  const head = body.subarray(0, headBytes)
  const image = imageTypeOf(head.toString("base64"))
  if (image !== null) return image
  if (head.toString("latin1").startsWith("%PDF-")) return "application/pdf"
  // A page that calls itself a picture, a video or a PDF is none.
  return /^(?:audio|text)\//.test(said) || (said.startsWith("video/") && isFilm(head)) ? said : null
}

/** Converts a fetched body to a source; null when no model can be shown it. */
const sourceOf = ({ body, headers }: PublicFetch.Fetched): MediaSource | null => {
  const said = essence(headers.get("content-type"))
  const mediaType = body.length === 0 ? null : typeOf(body, said)
  if (mediaType === null) return null
  return mediaType.startsWith("text/")
    ? { kind: "text", text: body.toString("utf8") }
    : { kind: "base64", mediaType, data: body.toString("base64") }
}

/** Scheme, host and path; nothing that may be secret. */
export const shownUrl = (url: string): string => {
  if (url.length > maxUrlChars || !URL.canParse(url)) return "(not a URL)"
  const { host, pathname, protocol } = new URL(url)
  return `${protocol}//${host}${pathname}`.slice(0, 200)
}

const refused = (url: string, reason: string): MediaNotFetched =>
  new MediaNotFetched({
    code: "media_not_fetched",
    message: `${shownUrl(url)} could not be fetched for the model: ${reason}`
  })

const isImage = (source: MediaSource): boolean => source.kind === "base64" && source.mediaType.startsWith("image/")

const reasonOf = (error: PublicFetch.PublicFetchError): string => {
  switch (error._tag) {
    case "UrlBlocked":
      return blockMessage[error.reason]
    case "RedirectRefused":
      return "It redirects too often, or to where it must not."
    case "ResponseTooLarge":
      return `It is larger than ${error.limitBytes / 1_048_576} MiB.`
    case "TimedOut":
      return `It took longer than ${error.timeoutMs / 1000} seconds.`
    case "TransportFailure":
      return error.kind === "blocked" ? blockMessage.private : "Its server could not be reached, or broke off."
  }
}

export const make = Effect.gen(function* () {
  const { get } = yield* PublicFetch.PublicFetch
  const timers = yield* Timers.Timers
  const cache = makeMediaCache()
  const places = makeLane(atOnceInAll)

  const fetchSource = (url: string): Effect.Effect<MediaSource, MediaNotFetched> =>
    places.inTurn(get(url, limits, isWanted)).pipe(
      Effect.mapError((error) => refused(url, reasonOf(error))),
      Effect.flatMap((fetched) => {
        if (fetched.status !== 200) return Effect.fail(refused(url, `Its server answered ${fetched.status}.`))
        const source = sourceOf(fetched)
        return source === null
          ? Effect.fail(refused(url, "It is no picture, sound, film, PDF or text."))
          : Effect.succeed(source)
      })
    )

  const sourceFor = (
    permission: ContentPermission | null,
    owner: string,
    url: string
  ): Effect.Effect<MediaSource, MediaNotFetched> =>
    Effect.suspend(() => {
      const key = cacheKey(owner, url)
      const known = cache.get(key, timers.nowMs())
      if (known !== null) return Effect.succeed(known)
      return Effect.tap(fetchSource(url), (source) =>
        permission === null ? Effect.void : Effect.sync(() => cache.put(permission, key, source, timers.nowMs()))
      )
    })

  const inlineMedia = Effect.fn("MediaFetch.inlineMedia")(function* (
    conversation: Conversation,
    target: WireName,
    owner: string,
    permission: ContentPermission | null
  ) {
    const links = linksToFetch(conversation, target)
    if (links.length > maxLinks) {
      const message = `The request links to ${links.length} pictures or files that have to be fetched for the chosen model; ${maxLinks} are allowed.`
      return yield* new MediaNotFetched({ code: "too_many_links", message })
    }
    const fetched = yield* Effect.forEach(
      links,
      ({ asImage, url }) =>
        Effect.flatMap(sourceFor(permission, owner, url), (source) =>
          asImage && !isImage(source)
            ? Effect.fail(refused(url, "It is no picture."))
            : Effect.succeed([url, source] as const)
        ),
      { concurrency: atOnce }
    )
    return withSources(conversation, target, new Map(fetched))
  })

  return MediaFetch.of({ inlineMedia })
})

export const layer: Layer.Layer<MediaFetch, never, PublicFetch.PublicFetch | Timers.Timers> = Layer.effect(
  MediaFetch,
  make
)
