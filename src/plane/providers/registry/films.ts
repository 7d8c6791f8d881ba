/** Services for videos or music only. They list no models, and none is named here: `auto` is for models that answer. */
import type { ProviderSpec } from "../../../domain/Provider.ts"
import { chatIn } from "./build.ts"

const service: ReturnType<typeof chatIn> = (id, name, baseUrl, details) =>
  chatIn("inference")(id, name, baseUrl, { modelsPath: null, ...details })

export const filmServices: ReadonlyArray<ProviderSpec> = [
  service("runway", "Runway", "https://api.dev.runwayml.com/v1", {
    aliases: ["runwayml"],
    headers: { "x-runway-version": "2024-11-06" },
    docsUrl: "https://docs.dev.runwayml.com/api",
    media: { videos: { adapter: "runway", baseUrl: "https://api.dev.runwayml.com/v1", path: "/{service}" } }
  }),
  service("suno", "Suno (sunoapi.org)", "https://api.sunoapi.org/api/v1", {
    aliases: ["sunoapi"],
    docsUrl: "https://docs.sunoapi.org",
    media: { music: { adapter: "suno", baseUrl: "https://api.sunoapi.org/api/v1", path: "/generate" } }
  }),
  service("kie", "Kie.ai", "https://api.kie.ai/api/v1", {
    env: ["KIE_API_KEY"],
    docsUrl: "https://docs.kie.ai/suno-api/generate-music",
    media: { music: { adapter: "suno", baseUrl: "https://api.kie.ai/api/v1", path: "/generate" } }
  })
]
