/** Factory Droid. https://docs.factory.ai/cli/byok/overview */
import { join } from "node:path"
import type { ToolSetup } from "../ToolSetup.ts"

export const droid: ToolSetup = {
  id: "droid",
  name: "Factory Droid",
  program: "droid",
  docsUrl: "https://docs.factory.ai/cli/byok/overview",
  plan: ({ home }, { apiKey, model, models, origin }) => ({
    files: [
      {
        path: join(home, ".factory/settings.json"),
        format: "json",
        edits: models.map(({ id, maxOutputTokens, vision }) => ({
          path: ["customModels", { member: "displayName", is: `${id} (gateway)` }],
          value: {
            model: id,
            displayName: `${id} (gateway)`,
            baseUrl: `${origin}/v1`,
            apiKey,
            provider: "generic-chat-completion-api",
            ...(maxOutputTokens === null ? {} : { maxOutputTokens }),
            ...(vision === false ? { noImageSupport: true } : {})
          }
        })),
        keyAt: ["customModels", { member: "displayName", is: `${model.id} (gateway)` }, "apiKey"]
      }
    ],
    notes: [`Start 'droid' and choose '${model.id} (gateway)' with /model. Droid itself needs an account of Factory.`]
  })
}
