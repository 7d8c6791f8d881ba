/** Cursor has no file for this. https://docs.cursor.com/settings/api-keys */
import type { ToolSetup } from "../ToolSetup.ts"

export const cursor: ToolSetup = {
  id: "cursor",
  name: "Cursor",
  program: null,
  docsUrl: "https://docs.cursor.com/settings/api-keys",
  plan: (_places, { apiKey, model, origin }) => ({
    files: [],
    notes: [
      "Cursor takes this in its settings only, and its servers must be able to reach the gateway:",
      "  1. Settings, Models, API Keys: turn on 'Override OpenAI Base URL'.",
      `  2. Base URL: ${origin}/v1`,
      `  3. OpenAI API Key: ${apiKey}`,
      `  4. Add the model ${model.id}.`
    ]
  })
}
