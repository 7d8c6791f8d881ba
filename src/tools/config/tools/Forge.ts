/** Forge. https://forgecode.dev/docs/custom-providers/ */
import { join } from "node:path"
import type { ToolSetup } from "../ToolSetup.ts"

export const forge: ToolSetup = {
  id: "forge",
  name: "Forge",
  program: "forge",
  docsUrl: "https://forgecode.dev/docs/custom-providers/",
  plan: ({ home }, { apiKey, model, origin }) => ({
    files: [
      {
        path: join(home, ".forge/config.toml"),
        format: "toml",
        edits: [
          { path: ["openai", "base_url"], value: `${origin}/v1` },
          { path: ["openai", "api_key"], value: apiKey },
          { path: ["openai", "model"], value: model.id }
        ],
        keyAt: ["openai", "api_key"]
      }
    ],
    notes: ["Start 'forge'."]
  })
}
