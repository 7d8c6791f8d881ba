/** Claude Code. https://docs.anthropic.com/en/docs/claude-code/settings and https://docs.anthropic.com/en/docs/claude-code/llm-gateway */
import { join } from "node:path"
import type { Edit } from "../Edits.ts"
import { familiesOf } from "../Families.ts"
import type { Gateway, Places, ToolFile, ToolModel, ToolSetup } from "../ToolSetup.ts"

const environmentOf = (
  { apiKey, origin }: Gateway,
  models: { readonly model: string; readonly opus: string; readonly sonnet: string; readonly haiku: string }
): ReadonlyArray<Edit> =>
  Object.entries({
    ANTHROPIC_BASE_URL: origin,
    ANTHROPIC_AUTH_TOKEN: apiKey,
    ANTHROPIC_MODEL: models.model,
    ANTHROPIC_DEFAULT_OPUS_MODEL: models.opus,
    ANTHROPIC_DEFAULT_SONNET_MODEL: models.sonnet,
    ANTHROPIC_DEFAULT_HAIKU_MODEL: models.haiku
  }).map(([name, value]) => ({ path: ["env", name], value }))

const keyAt = ["env", "ANTHROPIC_AUTH_TOKEN"]

const named = (models: ReadonlyArray<ToolModel>, word: string): string | null =>
  models.find(({ id }) => id.includes(word))?.id ?? null

/** A file of settings for each family of models, for `claude --settings` and `gateway launch claude --profile`. */
const profiles = (folder: string, gateway: Gateway): ReadonlyArray<ToolFile> =>
  familiesOf(gateway.models).map(([family, models]) => {
    const first = models[0].id
    const cheapest = models.reduce((best, each) =>
      (each.price?.input ?? Infinity) < (best.price?.input ?? Infinity) ? each : best
    )
    return {
      path: join(folder, "profiles", family, "settings.json"),
      format: "json",
      edits: environmentOf(gateway, {
        model: named(models, "sonnet") ?? first,
        opus: named(models, "opus") ?? first,
        sonnet: named(models, "sonnet") ?? first,
        haiku: named(models, "haiku") ?? cheapest.id
      }),
      keyAt
    }
  })

export const folderOf = ({ environment, home }: Places): string =>
  environment.get("CLAUDE_CONFIG_DIR") || join(home, ".claude")

export const claude: ToolSetup = {
  id: "claude",
  name: "Claude Code",
  program: "claude",
  docsUrl: "https://docs.anthropic.com/en/docs/claude-code/llm-gateway",
  plan: (places, gateway) => {
    const folder = folderOf(places)
    const { model, models, small } = gateway
    return {
      files: [
        {
          path: join(folder, "settings.json"),
          format: "json",
          edits: environmentOf(gateway, {
            model: model.id,
            opus: named(models, "opus") ?? model.id,
            sonnet: named(models, "sonnet") ?? model.id,
            haiku: named(models, "haiku") ?? small.id
          }),
          keyAt
        },
        ...profiles(folder, gateway)
      ],
      notes: ["Start 'claude'. 'gateway launch claude --profile <family>' starts it with the models of one family."]
    }
  }
}
