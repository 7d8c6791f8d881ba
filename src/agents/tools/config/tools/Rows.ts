/**
 * Tools whose files hold plain settings: a line for each setting. In texts, `{v1}` stands for the address of the gateway with `/v1`, `{origin}` for
 * it without, `{key}` for the key, `{model}` for the model the tool begins with.
 */
import { join } from "node:path"
import type { Json } from "../../../../wire/json/Json.ts"
import type { Edit } from "../Edits.ts"
import type { FormatName } from "../formats/index.ts"
import {
  firstThere,
  type Gateway,
  type Places,
  type ToolFile,
  type ToolModel,
  type ToolSetup,
  usualLimits
} from "../ToolSetup.ts"
import { openCode } from "./OpenCode.ts"

/** A path of the file, its steps separated by dots, and what is set there; a value that is null is left out. */
type Setting = readonly [path: string, value: Json | ((model: ToolModel) => Json)]

type FileRow = readonly [
  format: FormatName,
  /** Paths below the home folder, or below that of configurations where one begins with `config/`. The first that is there, else the first. */
  paths: readonly [string, ...ReadonlyArray<string>],
  settings: ReadonlyArray<Setting> | ((places: Places, gateway: Gateway) => Pick<ToolFile, "edits" | "keyAt">)
]

type Row = readonly [
  id: string,
  name: string,
  program: string | null,
  docsUrl: string,
  files: ReadonlyArray<FileRow>,
  notes: ReadonlyArray<string>
]

const hidden = "A folder with a '.env' of its own hides this one."

/** The configuration of opencode without its schema: https://kilo.ai/docs/code-with-ai/platforms/cli */
const ofOpenCode = (places: Places, gateway: Gateway): Pick<ToolFile, "edits" | "keyAt"> => ({
  edits: (openCode.plan(places, gateway).files[0]?.edits ?? []).filter(({ path: [first] }) => first !== "$schema"),
  keyAt: ["provider", "gateway", "options", "apiKey"]
})

const droidModel = (id: string): Edit["path"] => ["customModels", { member: "displayName", is: `${id} (gateway)` }]

const ofDroid = (_: Places, { apiKey, model, models, origin }: Gateway): Pick<ToolFile, "edits" | "keyAt"> => ({
  edits: models.map(({ id, maxOutputTokens, vision }) => ({
    path: droidModel(id),
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
  keyAt: [...droidModel(model.id), "apiKey"]
})

const rooModel = ({ contextLength, maxOutputTokens, vision }: ToolModel): Json => ({
  contextWindow: contextLength ?? usualLimits.context,
  maxTokens: maxOutputTokens ?? -1,
  supportsImages: vision ?? false,
  supportsPromptCache: false
})

const cursorNotes = [
  "Cursor takes this in its settings only, and its servers must be able to reach the gateway:",
  "  1. Settings, Models, API Keys: turn on 'Override OpenAI Base URL'.",
  "  2. Base URL: {v1}",
  "  3. OpenAI API Key: {key}",
  "  4. Add the model {model}."
]

// The shape for Cline is that of the file that its version 3.0.65 writes (2026-11). Goose looks for keys in the desktop's keyring unless it is disabled.
// oxfmt-ignore
const rows: ReadonlyArray<Row> = [
  ["cline", "Cline", "cline", "https://docs.cline.bot/cline-cli/overview", [["json", [".cline/data/settings/providers.json"], [["version", 1], ["lastUsedProvider", "openai-compatible"], ["providers.openai-compatible.settings.provider", "openai-compatible"], ["providers.openai-compatible.settings.apiKey", "{key}"], ["providers.openai-compatible.settings.model", "{model}"], ["providers.openai-compatible.settings.baseUrl", "{v1}"], ["providers.openai-compatible.tokenSource", "manual"], ["providers.openai-compatible.updatedAt", "2026-01-01T00:00:00.000Z"]]]], ["Start 'cline'. The extension for VS Code keeps its key in the editor: choose 'OpenAI Compatible' there, with the address and the key of this file."]],
  ["cursor", "Cursor", null, "https://docs.cursor.com/settings/api-keys", [], cursorNotes],
  ["droid", "Factory Droid", "droid", "https://docs.factory.ai/cli/byok/overview", [["json", [".factory/settings.json"], ofDroid]], ["Start 'droid' and choose '{model} (gateway)' with /model. Droid itself needs an account of Factory."]],
  ["forge", "Forge", "forge", "https://forgecode.dev/docs/custom-providers/", [["toml", [".forge/config.toml"], [["openai.base_url", "{v1}"], ["openai.api_key", "{key}"], ["openai.model", "{model}"]]]], ["Start 'forge'."]],
  ["gemini", "Gemini CLI", "gemini", "https://github.com/google-gemini/gemini-cli/blob/main/docs/get-started/configuration.md", [["json", [".gemini/settings.json"], [["security.auth.selectedType", "gemini-api-key"], ["model.name", "{model}"]]], ["env", [".gemini/.env"], [["GEMINI_API_KEY", "{key}"], ["GOOGLE_GEMINI_BASE_URL", "{origin}"]]]], [`Start 'gemini'. ${hidden}`]],
  ["goose", "goose", "goose", "https://block.github.io/goose/docs/guides/config-files", [["yaml", ["config/goose/config.yaml"], [["GOOSE_PROVIDER", "openai"], ["GOOSE_MODEL", "{model}"], ["OPENAI_HOST", "{origin}"], ["OPENAI_BASE_PATH", "v1/chat/completions"], ["GOOSE_CONTEXT_LIMIT", ({ contextLength }) => contextLength], ["GOOSE_DISABLE_KEYRING", true]]], ["yaml", ["config/goose/secrets.yaml"], [["OPENAI_API_KEY", "{key}"]]]], ["Start 'goose'. Its keyring is not used from now on: keys of other providers belong into 'secrets.yaml'."]],
  ["kilo", "Kilo Code", "kilo", "https://kilo.ai/docs/code-with-ai/platforms/cli", [["json", ["config/kilo/kilo.jsonc", "config/kilo/kilo.json", "config/kilo/opencode.json"], ofOpenCode]], ["Start 'kilo'. The extension for VS Code keeps its key in the editor: choose 'OpenAI Compatible' there."]],
  ["qwen", "Qwen Code", "qwen", "https://qwenlm.github.io/qwen-code-docs/en/users/configuration/settings/", [["json", [".qwen/settings.json"], [["security.auth.selectedType", "openai"], ["model.name", "{model}"]]], ["env", [".qwen/.env"], [["OPENAI_API_KEY", "{key}"], ["OPENAI_BASE_URL", "{v1}"], ["OPENAI_MODEL", "{model}"]]]], [`Start 'qwen'. ${hidden}`]],
  ["roo", "Roo Code", null, "https://docs.roocode.com/features/settings-management", [["json", [".gateway/roo-settings.json"], [["providerProfiles.currentApiConfigName", "gateway"], ["providerProfiles.apiConfigs.gateway.id", "gateway"], ["providerProfiles.apiConfigs.gateway.apiProvider", "openai"], ["providerProfiles.apiConfigs.gateway.openAiBaseUrl", "{v1}"], ["providerProfiles.apiConfigs.gateway.openAiApiKey", "{key}"], ["providerProfiles.apiConfigs.gateway.openAiModelId", "{model}"], ["providerProfiles.apiConfigs.gateway.openAiCustomModelInfo", rooModel]]]], ["In Roo Code: Settings, About, Import, and choose ~/.gateway/roo-settings.json."]]
]

const filled = (text: string, { apiKey, model, origin }: Gateway): string =>
  text.replaceAll(/\{(v1|origin|key|model)\}/g, (_, name: string) =>
    name === "v1" ? `${origin}/v1` : name === "origin" ? origin : name === "key" ? apiKey : model.id
  )

const pathIn = ({ configHome, home }: Places, path: string): string =>
  path.startsWith("config/") ? join(configHome, path.slice("config/".length)) : join(home, path)

const fileOf = ([format, paths, settings]: FileRow, places: Places, gateway: Gateway): ToolFile => {
  const [first, ...others] = paths
  const path = firstThere(places, pathIn(places, first), ...others.map((each) => pathIn(places, each)))
  if (typeof settings === "function") return { path, format, ...settings(places, gateway) }
  const edits = settings.flatMap(([at, value]): ReadonlyArray<Edit> => {
    const given = typeof value === "function" ? value(gateway.model) : value
    if (given === null) return []
    return [{ path: at.split("."), value: typeof given === "string" ? filled(given, gateway) : given }]
  })
  const keyAt = settings.find(([, value]) => value === "{key}")?.[0].split(".")
  return keyAt === undefined ? { path, format, edits } : { path, format, edits, keyAt }
}

const toolOf = ([id, name, program, docsUrl, files, notes]: Row): ToolSetup => ({
  id,
  name,
  program,
  docsUrl,
  plan: (places, gateway) => ({
    files: files.map((file) => fileOf(file, places, gateway)),
    notes: notes.map((note) => filled(note, gateway))
  })
})

export const simpleTools: ReadonlyMap<string, ToolSetup> = new Map(rows.map((row) => [row[0], toolOf(row)]))
