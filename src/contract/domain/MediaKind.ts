/** Kinds of requests to models besides conversations. The ids are those of `mediaPaths` of provider nodes. */
import * as Schema from "effect/Schema"
import type { WireName } from "./Wire.ts"

export const MediaKind = Schema.Literal(
  "embeddings",
  "rerank",
  "moderations",
  "speech",
  "images",
  "transcriptions",
  "translations",
  "videos",
  "music",
  "imageEdits",
  "imageVariations"
).annotations({
  identifier: "MediaKind",
  description: "A kind of request that is no conversation."
})
export type MediaKind = typeof MediaKind.Type

/** Paths of a provider node's own endpoints, below its base URL. */
export const MediaPaths = Schema.partialWith(Schema.Record({ key: MediaKind, value: Schema.String }), { exact: true })
export type MediaPaths = typeof MediaPaths.Type

/** Kinds of services under the gateway's own routes: media, and searches of the web. */
export type ServiceKind = MediaKind | "search"

/** Kinds that providers bill by the piece as soon as they have accepted a request, also where they run it as a job and the client leaves. */
const billedByPiece: ReadonlySet<ServiceKind> = new Set<ServiceKind>([
  "images",
  "imageEdits",
  "imageVariations",
  "music",
  "transcriptions",
  "translations",
  "videos"
])

/** Hot: checks whether a second call beside the first would be paid for as well. */
export const isBilledByPiece = (kind: ServiceKind | undefined): boolean => kind !== undefined && billedByPiece.has(kind)

/** Names of the providers whose form of a search an endpoint can have. */
export const searchAdapters = [
  "serper",
  "brave",
  "perplexity",
  "exa",
  "tavily",
  "google-pse",
  "linkup",
  "searchapi",
  "youcom",
  "searxng",
  "ollama"
] as const
export type SearchAdapterName = (typeof searchAdapters)[number]

/** Names of the forms of providers of pictures. */
export const imageAdapters = [
  "blackForestLabs",
  "comfyui",
  "fal",
  "fireworksImages",
  "hyperbolic",
  "ideogram",
  "leonardo",
  "nebius",
  "openrouterImages",
  "recraft",
  "replicate",
  "sdwebui",
  "stability",
  "together",
  "xai"
] as const
export type ImageAdapter = (typeof imageAdapters)[number]

/** Names of the providers whose form of requests and answers an endpoint can have, where it is not that of its wire. */
export const mediaAdapters = [
  "cohere",
  "voyage",
  "jina",
  "nvidia",
  "elevenlabs",
  "deepgram",
  "assemblyai",
  "minimax",
  "runway",
  "suno",
  ...searchAdapters,
  ...imageAdapters
] as const
export type MediaAdapter = (typeof mediaAdapters)[number]

/** An endpoint of a provider for one kind. */
export interface MediaService {
  readonly adapter: MediaAdapter | null
  /** The wire that is spoken there, where it is not one of the provider's own. */
  readonly wire?: WireName
  /** Address of the API it belongs to, with its version; null: the base URL of the provider. */
  readonly baseUrl: string | null
  /** Path below it; `{model}` and what the request says of the place are in braces. The slashes of `{+model}` stay. */
  readonly path: string
}

export type MediaServices = Partial<Record<ServiceKind, MediaService>>
