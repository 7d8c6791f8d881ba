/** Endpoints that lines of a batch may ask. https://platform.openai.com/docs/api-reference/batch/create */
import { type ConversationKey, edgeRoutes } from "../../contract/EdgeRoutes.ts"
import type { EndpointCategory } from "../keys/entity.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import { codecs } from "../../wire/Codec.ts"
import { completions } from "../../wire/media/completions/Codec.ts"
import { embeddings } from "../../wire/media/embeddings/Codec.ts"
import { images } from "../../wire/media/images/Codec.ts"
import { moderations } from "../../wire/media/Moderations.ts"
import { videos } from "../../wire/media/videos/Codec.ts"
import type { WireCodec } from "../../wire/WireCodec.ts"

export interface Endpoint {
  readonly path: string
  readonly wire: WireName
  readonly codec: WireCodec
  readonly category: EndpointCategory
}

const codecOf: Partial<Record<ConversationKey, WireCodec>> = {
  "inference.chat": codecs.chat,
  "inference.responses": codecs.responses,
  "inference.completions": completions,
  "inference.embeddings": embeddings,
  "inference.moderations": moderations,
  "inference.images": images,
  "inference.videos": videos
}

const isDocumented = (path: string): boolean =>
  /^\/v1\/(?:responses|chat\/completions|embeddings|completions|moderations|images\/generations|videos\/generations)$/.test(
    path
  )

/** Endpoints by path: the documented ones that this gateway has a route for. */
export const endpoints: ReadonlyMap<string, Endpoint> = new Map(
  edgeRoutes.flatMap((route): ReadonlyArray<readonly [string, Endpoint]> => {
    if (route.method !== "POST" || route.tier !== "inference" || route.wire === null) return []
    const codec = codecOf[route.key as ConversationKey]
    const { category, path, wire } = route
    return codec === undefined || category === null || !isDocumented(path)
      ? []
      : [[path, { path, wire, codec, category }]]
  })
)
