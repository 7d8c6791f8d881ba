/** Continue. https://docs.continue.dev/reference, schema https://raw.githubusercontent.com/continuedev/continue/main/extensions/vscode/config_schema.json */
import { join } from "node:path"
import type { ToolSetup } from "../ToolSetup.ts"

export const continueDev: ToolSetup = {
  id: "continue",
  name: "Continue",
  program: "cn",
  docsUrl: "https://docs.continue.dev/reference",
  plan: ({ home }, { apiKey, model, models, origin }) => {
    const path = join(home, ".continue/config.yaml")
    const shown = [model, ...models.filter(({ id }) => id !== model.id)]
    return {
      files: [
        {
          path,
          format: "yaml",
          edits: [
            { path: ["name"], value: "Gateway", unlessThere: true },
            { path: ["version"], value: "1.0.0", unlessThere: true },
            { path: ["schema"], value: "v1", unlessThere: true },
            ...shown.map(({ contextLength, id, maxOutputTokens, vision }) => ({
              path: ["models", { member: "name", is: `gateway ${id}` }],
              value: {
                name: `gateway ${id}`,
                provider: "openai",
                model: id,
                apiBase: `${origin}/v1`,
                apiKey,
                roles: ["chat", "edit", "apply"],
                capabilities: vision === true ? ["tool_use", "image_input"] : ["tool_use"],
                ...(contextLength === null
                  ? {}
                  : {
                      defaultCompletionOptions: {
                        contextLength,
                        ...(maxOutputTokens === null ? {} : { maxTokens: maxOutputTokens })
                      }
                    })
              }
            }))
          ],
          keyAt: ["models", { member: "name", is: `gateway ${model.id}` }, "apiKey"]
        }
      ],
      notes: ["Start 'cn', or choose a model that begins with 'gateway' in the editor."]
    }
  }
}
