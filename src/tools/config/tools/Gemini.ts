/** Gemini CLI. https://github.com/google-gemini/gemini-cli/blob/main/docs/get-started/configuration.md */
import { join } from "node:path"
import type { ToolSetup } from "../ToolSetup.ts"

export const gemini: ToolSetup = {
  id: "gemini",
  name: "Gemini CLI",
  program: "gemini",
  docsUrl: "https://github.com/google-gemini/gemini-cli/blob/main/docs/get-started/configuration.md",
  plan: ({ home }, { apiKey, model, origin }) => ({
    files: [
      {
        path: join(home, ".gemini/settings.json"),
        format: "json",
        edits: [
          { path: ["security", "auth", "selectedType"], value: "gemini-api-key" },
          { path: ["model", "name"], value: model.id }
        ]
      },
      {
        path: join(home, ".gemini/.env"),
        format: "env",
        edits: [
          { path: ["GEMINI_API_KEY"], value: apiKey },
          { path: ["GOOGLE_GEMINI_BASE_URL"], value: origin }
        ],
        keyAt: ["GEMINI_API_KEY"]
      }
    ],
    notes: ["Start 'gemini'. A folder with a '.env' of its own hides this one."]
  })
}
