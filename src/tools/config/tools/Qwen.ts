/** Qwen Code. https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings/ */
import { join } from "node:path"
import type { ToolSetup } from "../ToolSetup.ts"

export const qwen: ToolSetup = {
  id: "qwen",
  name: "Qwen Code",
  program: "qwen",
  docsUrl: "https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings/",
  plan: ({ home }, { apiKey, model, origin }) => ({
    files: [
      {
        path: join(home, ".qwen/settings.json"),
        format: "json",
        edits: [
          { path: ["security", "auth", "selectedType"], value: "openai" },
          { path: ["model", "name"], value: model.id }
        ]
      },
      {
        path: join(home, ".qwen/.env"),
        format: "env",
        edits: [
          { path: ["OPENAI_API_KEY"], value: apiKey },
          { path: ["OPENAI_BASE_URL"], value: `${origin}/v1` },
          { path: ["OPENAI_MODEL"], value: model.id }
        ],
        keyAt: ["OPENAI_API_KEY"]
      }
    ],
    notes: ["Start 'qwen'. A folder with a '.env' of its own hides this one."]
  })
}
