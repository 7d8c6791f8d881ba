/** Services for pictures only, and servers that make them. Their models are named, because none of them has a list of a known form. */
import type { MediaServices } from "../../../domain/MediaKind.ts"
import type { ProviderSpec } from "../../../domain/Provider.ts"
import { chatIn, local } from "./build.ts"

const service: typeof local = (id, name, baseUrl, details) =>
  chatIn("inference")(id, name, baseUrl, { modelsPath: null, paintsOnly: true, ...details })

const server: typeof local = (id, name, baseUrl, details) =>
  local(id, name, baseUrl, { modelsPath: null, paintsOnly: true, ...details })

const at = (adapter: "recraft" | "replicate" | "leonardo", path: string): MediaServices => ({
  images: { adapter, baseUrl: null, path }
})

export const imageServices: ReadonlyArray<ProviderSpec> = [
  service("stability-ai", "Stability AI", "https://api.stability.ai/v2beta", {
    aliases: ["stability"],
    env: ["STABILITY_API_KEY"],
    models: ["stable-image-core", "stable-image-ultra", "sd3.5-large", "sd3.5-medium", "sd3.5-flash"],
    docsUrl: "https://platform.stability.ai/docs/api-reference",
    media: {
      images: {
        adapter: "stability",
        baseUrl: "https://api.stability.ai/v2beta",
        path: "/stable-image/generate/{service}"
      },
      imageEdits: {
        adapter: "stability",
        baseUrl: "https://api.stability.ai/v2beta",
        path: "/stable-image/{+service}"
      }
    }
  }),
  service("black-forest-labs", "Black Forest Labs", "https://api.bfl.ai/v1", {
    aliases: ["bfl"],
    auth: { type: "apikey", header: "x-key", prefix: "" },
    env: ["BFL_API_KEY"],
    models: ["flux-2-pro", "flux-2-flex", "flux-kontext-pro", "flux-kontext-max", "flux-pro-1.1", "flux-pro-1.1-ultra"],
    docsUrl: "https://docs.bfl.ai",
    media: { images: { adapter: "blackForestLabs", baseUrl: "https://api.bfl.ai/v1", path: "/{model}" } }
  }),
  service("recraft", "Recraft", "https://external.api.recraft.ai/v1", {
    env: ["RECRAFT_API_TOKEN"],
    models: ["recraftv3", "recraftv2"],
    docsUrl: "https://www.recraft.ai/docs",
    media: at("recraft", "/images/generations")
  }),
  service("ideogram", "Ideogram", "https://api.ideogram.ai/v1", {
    auth: { type: "apikey", header: "api-key", prefix: "" },
    env: ["IDEOGRAM_API_KEY"],
    models: ["ideogram-v3"],
    docsUrl: "https://developer.ideogram.ai",
    media: {
      images: { adapter: "ideogram", baseUrl: "https://api.ideogram.ai/v1", path: "/ideogram-v3/generate" }
    }
  }),
  service("replicate", "Replicate", "https://api.replicate.com/v1", {
    env: ["REPLICATE_API_TOKEN"],
    models: ["black-forest-labs/flux-schnell", "black-forest-labs/flux-1.1-pro"],
    docsUrl: "https://replicate.com/docs/reference/http",
    media: {
      ...at("replicate", "/predictions"),
      videos: { adapter: "replicate", baseUrl: null, path: "/predictions" }
    }
  }),
  service("fal-ai", "fal", "https://queue.fal.run", {
    aliases: ["fal"],
    auth: { type: "apikey", header: "authorization", prefix: "Key " },
    env: ["FAL_KEY"],
    models: ["fal-ai/flux/schnell", "fal-ai/flux/dev", "fal-ai/flux-pro/v1.1"],
    docsUrl: "https://docs.fal.ai/model-endpoints/queue",
    media: {
      images: { adapter: "fal", baseUrl: null, path: "/{+model}" },
      videos: { adapter: "fal", baseUrl: null, path: "/{+model}" }
    }
  }),
  service("leonardo", "Leonardo.Ai", "https://cloud.leonardo.ai/api/rest/v1", {
    env: ["LEONARDO_API_KEY"],
    models: ["b24e16ff-06e3-43eb-8d33-4416c2d75876"],
    docsUrl: "https://docs.leonardo.ai/reference/creategeneration",
    media: at("leonardo", "/generations")
  })
]

export const imageServers: ReadonlyArray<ProviderSpec> = [
  server("sdwebui", "Stable Diffusion web UI", "http://127.0.0.1:7860", {
    aliases: ["automatic1111", "sd-webui"],
    models: ["default"],
    docsUrl: "https://github.com/AUTOMATIC1111/stable-diffusion-webui/wiki/API",
    media: { images: { adapter: "sdwebui", baseUrl: null, path: "/sdapi/v1/txt2img" } }
  }),
  server("comfyui", "ComfyUI", "http://127.0.0.1:8188", {
    models: ["v1-5-pruned-emaonly.safetensors"],
    docsUrl: "https://docs.comfy.org/development/comfyui-server/comms_routes",
    media: { images: { adapter: "comfyui", baseUrl: null, path: "/prompt" } }
  })
]
