/**
 * The lists of models of one kind, such as `GET /v1/images/generations`: by the output that a model's provider reports,
 * else by its name. Pure.
 */
import type { ProviderSpec } from "../../contract/domain/Provider.ts"
import type { ServiceKind } from "../../contract/domain/MediaKind.ts"
import type { CatalogueEntry } from "../../plane/catalogue/CatalogueEntries.ts"
import { isEmbeddingModel, isImageModel, isMusicModel, isVideoModel } from "../../plane/providers/ChatModels.ts"

type Provider = Pick<ProviderSpec, "media" | "models" | "modelsPath" | "paintsOnly">

/** All models of a service that does nothing else: their names say little. */
const servesOnly = (kind: ServiceKind, provider: Provider | null): boolean => {
  if (provider === null || provider.modelsPath !== null || provider.models.length > 0) return false
  const kinds = Object.keys(provider.media)
  return kinds.length === 1 && kinds[0] === kind
}

const kinds = {
  "inference.embeddingModels": ({ id, output_modalities: outputs }) =>
    outputs?.includes("embedding") ?? isEmbeddingModel(id),
  "inference.imageModels": ({ id, output_modalities: outputs }, provider) =>
    outputs?.includes("image") ?? (isImageModel(id) || provider?.paintsOnly === true),
  "inference.videoModels": ({ id, output_modalities: outputs }, provider) =>
    outputs?.includes("video") ?? (isVideoModel(id) || servesOnly("videos", provider)),
  // The known facts of outputs do not distinguish music from speech.
  "inference.musicModels": ({ id }, provider) => isMusicModel(id) || servesOnly("music", provider)
} satisfies Readonly<
  Record<string, (entry: Pick<CatalogueEntry, "id" | "output_modalities">, provider: Provider | null) => boolean>
>

export type KindListing = keyof typeof kinds

export const isOfKind = (
  listing: KindListing,
  entry: Pick<CatalogueEntry, "id" | "output_modalities">,
  provider: Provider | null
): boolean => kinds[listing](entry, provider)
