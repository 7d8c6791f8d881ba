/** Cline CLI. https://docs.cline.bot/cline-cli/overview; the shape is that of the file that its version 3.0.65 writes (2026-11). */
import { join } from "node:path"
import type { ToolSetup } from "../ToolSetup.ts"

export const cline: ToolSetup = {
  id: "cline",
  name: "Cline",
  program: "cline",
  docsUrl: "https://docs.cline.bot/cline-cli/overview",
  plan: ({ home }, { apiKey, model, origin }) => ({
    files: [
      {
        path: join(home, ".cline/data/settings/providers.json"),
        format: "json",
        edits: [
          { path: ["version"], value: 1 },
          { path: ["lastUsedProvider"], value: "openai-compatible" },
          {
            path: ["providers", "openai-compatible", "settings"],
            value: { provider: "openai-compatible", apiKey, model: model.id, baseUrl: `${origin}/v1` }
          },
          { path: ["providers", "openai-compatible", "tokenSource"], value: "manual" },
          { path: ["providers", "openai-compatible", "updatedAt"], value: "2026-01-01T00:00:00.000Z" }
        ],
        keyAt: ["providers", "openai-compatible", "settings", "apiKey"]
      }
    ],
    notes: [
      "Start 'cline'. The extension for VS Code keeps its key in the editor: choose 'OpenAI Compatible' there, with the address and the key of this file."
    ]
  })
}
