/** Codex CLI. https://developers.openai.com/codex/config-reference */
import { join } from "node:path"
import type { Places, ToolSetup } from "../ToolSetup.ts"

export const folderOf = ({ environment, home }: Places): string => environment.get("CODEX_HOME") || join(home, ".codex")

export const codex: ToolSetup = {
  id: "codex",
  name: "Codex CLI",
  docsUrl: "https://developers.openai.com/codex/config-reference",
  plan: (places, { apiKey, model, origin }) => ({
    files: [
      {
        path: join(folderOf(places), "config.toml"),
        format: "toml",
        edits: [
          { path: ["model"], value: model.id },
          { path: ["model_provider"], value: "gateway" },
          ...(model.contextLength === null ? [] : [{ path: ["model_context_window"], value: model.contextLength }]),
          {
            path: ["model_providers", "gateway"],
            value: {
              name: "Gateway",
              base_url: `${origin}/v1`,
              wire_api: "responses",
              experimental_bearer_token: apiKey
            }
          }
        ],
        keyAt: ["model_providers", "gateway", "experimental_bearer_token"]
      }
    ],
    notes: ["Start 'codex'."]
  })
}
