/** opencode. https://opencode.ai/docs/providers/#custom-provider, schema https://opencode.ai/config.json */
import { join } from "node:path"
import type { Json } from "../../../../wire/json/Json.ts"
import { firstThere, type Gateway, type ToolModel, type ToolSetup, usualLimits } from "../ToolSetup.ts"

const modelOf = ({ contextLength, maxOutputTokens, price, reasoning, vision }: ToolModel, name: string): Json => ({
  name,
  tool_call: true,
  ...(reasoning === null ? {} : { reasoning }),
  ...(vision === null ? {} : { attachment: vision }),
  ...(price === null
    ? {}
    : {
        cost: {
          input: price.input,
          output: price.output,
          ...(price.cacheRead === undefined ? {} : { cache_read: price.cacheRead }),
          ...(price.cacheWrite === undefined ? {} : { cache_write: price.cacheWrite })
        }
      }),
  limit: { context: contextLength ?? usualLimits.context, output: maxOutputTokens ?? usualLimits.output }
})

const provider = ({ apiKey, models, origin }: Gateway): Json => ({
  npm: "@ai-sdk/openai-compatible",
  name: "Gateway",
  options: { baseURL: `${origin}/v1`, apiKey },
  models: Object.fromEntries(models.map((model) => [model.id, modelOf(model, model.id)]))
})

export const openCode: ToolSetup = {
  id: "opencode",
  name: "opencode",
  program: "opencode",
  docsUrl: "https://opencode.ai/docs/providers/",
  plan: (places, gateway) => {
    const folder = join(places.configHome, "opencode")
    return {
      files: [
        {
          path: firstThere(places, join(folder, "opencode.json"), join(folder, "opencode.jsonc")),
          format: "json",
          edits: [
            { path: ["$schema"], value: "https://opencode.ai/config.json", unlessThere: true },
            { path: ["provider", "gateway"], value: provider(gateway) },
            { path: ["model"], value: `gateway/${gateway.model.id}` },
            { path: ["small_model"], value: `gateway/${gateway.small.id}` }
          ],
          keyAt: ["provider", "gateway", "options", "apiKey"]
        }
      ],
      notes: ["Start 'opencode'."]
    }
  }
}
