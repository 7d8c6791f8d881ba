/** aider. https://aider.chat/docs/config/aider_conf.html and https://aider.chat/docs/llms/openai-compat.html */
import { join } from "node:path"
import type { ToolSetup } from "../ToolSetup.ts"

export const aider: ToolSetup = {
  id: "aider",
  name: "aider",
  program: "aider",
  docsUrl: "https://aider.chat/docs/config/aider_conf.html",
  plan: ({ home }, { apiKey, model, models, origin, small }) => ({
    files: [
      {
        path: join(home, ".aider.conf.yml"),
        format: "yaml",
        edits: [
          { path: ["openai-api-base"], value: `${origin}/v1` },
          { path: ["openai-api-key"], value: apiKey },
          { path: ["model"], value: `openai/${model.id}` },
          { path: ["weak-model"], value: `openai/${small.id}` }
        ],
        keyAt: ["openai-api-key"]
      },
      {
        path: join(home, ".aider.model.metadata.json"),
        format: "json",
        edits: models.flatMap(({ contextLength, id, maxOutputTokens, price }) =>
          contextLength === null
            ? []
            : [
                {
                  path: [`openai/${id}`],
                  value: {
                    litellm_provider: "openai",
                    mode: "chat",
                    max_input_tokens: contextLength,
                    ...(maxOutputTokens === null ? {} : { max_output_tokens: maxOutputTokens }),
                    ...(price === null
                      ? {}
                      : {
                          input_cost_per_token: price.input / 1_000_000,
                          output_cost_per_token: price.output / 1_000_000
                        })
                  }
                }
              ]
        )
      }
    ],
    notes: ["Start 'aider'."]
  })
}
