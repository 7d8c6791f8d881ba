/** pi. https://github.com/badlogic/pi-mono/blob/main/packages/coding-agent/docs/models.md */
import { join } from "node:path"
import { type ToolSetup, usualLimits } from "../ToolSetup.ts"

export const pi: ToolSetup = {
  id: "pi",
  name: "pi",
  program: "pi",
  docsUrl: "https://github.com/badlogic/pi-mono/blob/main/packages/coding-agent/docs/models.md",
  plan: ({ environment, home }, { apiKey, model, models, origin }) => {
    const folder = environment.get("PI_CODING_AGENT_DIR") || join(home, ".pi/agent")
    return {
      files: [
        {
          path: join(folder, "models.json"),
          format: "json",
          edits: [
            {
              path: ["providers", "gateway"],
              value: {
                baseUrl: `${origin}/v1`,
                apiKey,
                api: "openai-completions",
                models: models.map(({ contextLength, id, maxOutputTokens, price, reasoning, vision }) => ({
                  id,
                  name: id,
                  reasoning: reasoning ?? false,
                  input: vision === true ? ["text", "image"] : ["text"],
                  contextWindow: contextLength ?? usualLimits.context,
                  maxTokens: maxOutputTokens ?? usualLimits.output,
                  cost: {
                    input: price?.input ?? 0,
                    output: price?.output ?? 0,
                    cacheRead: price?.cacheRead ?? price?.input ?? 0,
                    cacheWrite: price?.cacheWrite ?? price?.input ?? 0
                  }
                }))
              }
            }
          ],
          keyAt: ["providers", "gateway", "apiKey"]
        },
        {
          path: join(folder, "settings.json"),
          format: "json",
          edits: [
            { path: ["defaultProvider"], value: "gateway" },
            { path: ["defaultModel"], value: model.id }
          ]
        }
      ],
      notes: ["Start 'pi'."]
    }
  }
}
