/** goose. https://block.github.io/goose/docs/guides/config-files and https://block.github.io/goose/docs/getting-started/providers */
import { join } from "node:path"
import type { ToolSetup } from "../ToolSetup.ts"

export const goose: ToolSetup = {
  id: "goose",
  name: "goose",
  program: "goose",
  docsUrl: "https://block.github.io/goose/docs/guides/config-files",
  plan: ({ configHome }, { apiKey, model, origin }) => ({
    files: [
      {
        path: join(configHome, "goose/config.yaml"),
        format: "yaml",
        edits: [
          { path: ["GOOSE_PROVIDER"], value: "openai" },
          { path: ["GOOSE_MODEL"], value: model.id },
          { path: ["OPENAI_HOST"], value: origin },
          { path: ["OPENAI_BASE_PATH"], value: "v1/chat/completions" },
          ...(model.contextLength === null ? [] : [{ path: ["GOOSE_CONTEXT_LIMIT"], value: model.contextLength }]),
          // Else the key is looked for in the keyring of the desktop, and the file below is not read.
          { path: ["GOOSE_DISABLE_KEYRING"], value: true }
        ]
      },
      {
        path: join(configHome, "goose/secrets.yaml"),
        format: "yaml",
        edits: [{ path: ["OPENAI_API_KEY"], value: apiKey }],
        keyAt: ["OPENAI_API_KEY"]
      }
    ],
    notes: ["Start 'goose'. Its keyring is not used from now on: keys of other providers belong into 'secrets.yaml'."]
  })
}
