/** Crush. https://github.com/charmbracelet/crush#custom-providers, schema https://charm.land/crush.json */
import { join } from "node:path"
import { type ToolSetup, usualLimits } from "../ToolSetup.ts"

export const crush: ToolSetup = {
  id: "crush",
  name: "Crush",
  program: "crush",
  docsUrl: "https://github.com/charmbracelet/crush#custom-providers",
  plan: ({ configHome }, { apiKey, model, models, origin, small }) => {
    const chosen = (id: string) => ({ model: id, provider: "gateway" })
    return {
      files: [
        {
          path: join(configHome, "crush/crush.json"),
          format: "json",
          edits: [
            { path: ["$schema"], value: "https://charm.land/crush.json", unlessThere: true },
            {
              path: ["providers", "gateway"],
              value: {
                name: "Gateway",
                type: "openai-compat",
                base_url: `${origin}/v1`,
                api_key: apiKey,
                // The list below is what the key may use.
                discover_models: false,
                models: models.map(({ contextLength, id, maxOutputTokens, price, reasoning, vision }) => ({
                  id,
                  name: id,
                  context_window: contextLength ?? usualLimits.context,
                  default_max_tokens: maxOutputTokens ?? usualLimits.output,
                  can_reason: reasoning ?? false,
                  supports_attachments: vision ?? false,
                  cost_per_1m_in: price?.input ?? 0,
                  cost_per_1m_out: price?.output ?? 0,
                  cost_per_1m_in_cached: price?.cacheWrite ?? price?.input ?? 0,
                  cost_per_1m_out_cached: price?.cacheRead ?? price?.input ?? 0
                }))
              }
            },
            { path: ["models", "large"], value: chosen(model.id) },
            { path: ["models", "small"], value: chosen(small.id) }
          ],
          keyAt: ["providers", "gateway", "api_key"]
        }
      ],
      notes: ["Start 'crush'."]
    }
  }
}
