/** Codex CLI. https://developers.openai.com/codex/config-reference */
import { join } from "node:path"
import type { Edit } from "../Edits.ts"
import { familiesOf } from "../Families.ts"
import type { Places, ToolFile, ToolModel, ToolSetup } from "../ToolSetup.ts"

export const folderOf = ({ environment, home }: Places): string => environment.get("CODEX_HOME") || join(home, ".codex")

/** Codex has no numbers for models it does not know by name. */
const chosen = ({ contextLength, id }: ToolModel): ReadonlyArray<Edit> => [
  { path: ["model"], value: id },
  { path: ["model_provider"], value: "gateway" },
  ...(contextLength === null ? [] : [{ path: ["model_context_window"], value: contextLength }])
]

/** A file for each family of models, which `codex --profile <family>` lays over `config.toml`. */
const profiles = (folder: string, models: ReadonlyArray<ToolModel>): ReadonlyArray<ToolFile> =>
  familiesOf(models).map(([family, [first, ...others]]) => ({
    path: join(folder, `${family}.config.toml`),
    format: "toml",
    edits: chosen(others.concat(first).find(({ id }) => id.includes("codex")) ?? first)
  }))

export const codex: ToolSetup = {
  id: "codex",
  name: "Codex CLI",
  program: "codex",
  docsUrl: "https://developers.openai.com/codex/config-reference",
  plan: (places, { apiKey, model, models, origin }) => ({
    files: [
      {
        path: join(folderOf(places), "config.toml"),
        format: "toml",
        edits: [
          ...chosen(model),
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
      },
      ...profiles(folderOf(places), models)
    ],
    notes: ["Start 'codex'. 'codex --profile <family>' starts it with a model of that family."]
  })
}
