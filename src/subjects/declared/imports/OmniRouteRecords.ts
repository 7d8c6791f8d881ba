/**
 * Records of OmniRoute, from whatever source: rows of its database (snake_case, numbers for booleans, JSON as text) or its JSON
 * export. Pure. https://github.com/diegosouzapw/OmniRoute (`src/lib/db/core.ts`, `src/app/api/settings/export-json/route.ts`)
 */
import { isArray, type Json, type JsonObject, objectOr, parseJson, stringOr } from "../../../wire/json/Json.ts"

/** Tables and the columns of them that an import reads, and under what name the JSON export has them. */
export const omniRouteTables: ReadonlyArray<{
  readonly table: string
  readonly member: string
  readonly columns: ReadonlyArray<string>
}> = [
  {
    table: "provider_connections",
    member: "providerConnections",
    // Tokens of accounts are not read at all.
    columns: [
      "id",
      "provider",
      "auth_type",
      "name",
      "display_name",
      "email",
      "priority",
      "is_active",
      "api_key",
      "default_model",
      "max_concurrent",
      "provider_specific_data"
    ]
  },
  {
    table: "provider_nodes",
    member: "providerNodes",
    columns: ["id", "type", "name", "prefix", "api_type", "base_url", "chat_path", "models_path", "custom_headers_json"]
  },
  { table: "combos", member: "combos", columns: ["id", "name", "data"] },
  { table: "domain_fallback_chains", member: "fallbackChains", columns: ["model", "chain"] },
  { table: "model_combo_mappings", member: "modelComboMappings", columns: ["pattern"] },
  { table: "api_keys", member: "apiKeys", columns: ["name"] },
  { table: "proxy_registry", member: "proxies", columns: ["id"] },
  { table: "webhooks", member: "webhooks", columns: ["id"] }
]

/** Namespaces of the table `key_value` whose keys and values become an object. */
export const omniRouteNamespaces: ReadonlyArray<string> = ["modelAliases", "pricing", "customModels"]

const camel = (name: string): string => name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

/** The value of a text in JSON; any other value as it is. */
export const unpacked = (value: Json | undefined): Json =>
  typeof value === "string" ? (parseJson(value) ?? value) : (value ?? null)

/** Columns that hold JSON. */
const packed: ReadonlySet<string> = new Set(["providerSpecificData", "customHeaders", "data", "chain"])

const record = (given: Json): JsonObject =>
  Object.fromEntries(
    Object.entries(objectOr(given)).map(([column, value]) => {
      const name = camel(column).replace(/Json$/, "")
      return [name, packed.has(name) ? unpacked(value) : (value ?? null)]
    })
  )

export interface OmniRouteRecords {
  readonly connections: ReadonlyArray<JsonObject>
  readonly nodes: ReadonlyArray<JsonObject>
  readonly combos: ReadonlyArray<JsonObject>
  readonly fallbacks: ReadonlyArray<JsonObject>
  readonly mappings: ReadonlyArray<JsonObject>
  readonly keys: ReadonlyArray<JsonObject>
  readonly proxies: number
  readonly webhooks: number
  readonly aliases: ReadonlyMap<string, Json>
  /** Provider → model → price. */
  readonly prices: ReadonlyMap<string, JsonObject>
  /** Providers with models that were added by hand. */
  readonly customModels: ReadonlyArray<string>
  readonly hasSettings: boolean
}

/** Checks whether a value is a JSON export of OmniRoute, or was read from its database. */
export const isOmniRoute = (given: Json): boolean =>
  ["providerConnections", "providerNodes", "combos"].some((member) => isArray(objectOr(given)[member]))

export const recordsOf = (given: Json): OmniRouteRecords => {
  const all = objectOr(given)
  const list = (member: string): ReadonlyArray<JsonObject> => {
    const found = all[member]
    return isArray(found) ? found.map(record) : []
  }
  const settings = objectOr(all["settings"])
  return {
    connections: list("providerConnections"),
    nodes: list("providerNodes"),
    // A row has the combo as JSON in one column.
    combos: list("combos").map(({ data, ...rest }) => Object.assign(rest, objectOr(data))),
    fallbacks: list("fallbackChains"),
    mappings: list("modelComboMappings"),
    keys: list("apiKeys"),
    proxies: list("proxies").length,
    webhooks: list("webhooks").length,
    aliases: new Map(
      [
        ...Object.entries(objectOr(unpacked(settings["modelAliases"]))),
        ...Object.entries(objectOr(all["modelAliases"]))
      ].map(([name, value]) => [name, unpacked(value)])
    ),
    prices: new Map(
      Object.entries(objectOr(all["pricing"])).map(([provider, models]) => [provider, objectOr(unpacked(models))])
    ),
    customModels: Object.keys(objectOr(all["customModels"])),
    hasSettings: Object.keys(settings).length > 0
  }
}

/** Text that is not empty, trimmed; null: there is none. */
export const textOf = (value: Json | undefined): string | null => {
  const text = stringOr(value)?.trim() ?? ""
  return text === "" ? null : text
}

/** True and 1 are on; what is absent is, too. */
export const isOn = (value: Json | undefined): boolean => value !== false && value !== 0
