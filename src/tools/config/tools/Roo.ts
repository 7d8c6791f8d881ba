/** Roo Code keeps its settings in the editor; a file can be imported. https://docs.roocode.com/features/settings-management */
import { join } from "node:path"
import type { ToolSetup } from "../ToolSetup.ts"

export const roo: ToolSetup = {
  id: "roo",
  name: "Roo Code",
  program: null,
  docsUrl: "https://docs.roocode.com/features/settings-management",
  plan: ({ home }, { apiKey, model, origin }) => {
    const path = join(home, ".gateway/roo-settings.json")
    return {
      files: [
        {
          path,
          format: "json",
          edits: [
            { path: ["providerProfiles", "currentApiConfigName"], value: "gateway" },
            {
              path: ["providerProfiles", "apiConfigs", "gateway"],
              value: {
                id: "gateway",
                apiProvider: "openai",
                openAiBaseUrl: `${origin}/v1`,
                openAiApiKey: apiKey,
                openAiModelId: model.id,
                openAiCustomModelInfo: {
                  contextWindow: model.contextLength ?? 128_000,
                  maxTokens: model.maxOutputTokens ?? -1,
                  supportsImages: model.vision ?? false,
                  supportsPromptCache: false
                }
              }
            }
          ],
          keyAt: ["providerProfiles", "apiConfigs", "gateway", "openAiApiKey"]
        }
      ],
      notes: [`In Roo Code: Settings, About, Import, and choose ${path}.`]
    }
  }
}
