/** Reads the state of a gateway from the answers of its management API, in the form of a file. Pure. */
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../../wire/json/Json.ts"
import { byAge, labelsOf } from "./Labels.ts"
import { namesOnly, type Thing } from "./Plan.ts"

/** Answers of the lists, as they came. */
export interface Answers {
  readonly nodes: JsonObject
  readonly connections: JsonObject
  readonly combos: JsonObject
  readonly aliases: JsonObject
  readonly prices: JsonObject
  readonly keys: JsonObject
  readonly mcpServers: JsonObject
  readonly settings: JsonObject
  readonly models?: JsonObject
  readonly quotaGroups?: JsonObject
  readonly budgets?: JsonObject
  readonly tokenLimits?: JsonObject
  readonly proxies?: JsonObject
  readonly proxyAssignments?: JsonObject
  readonly webhooks?: JsonObject
  readonly resilience?: JsonObject
  readonly plugins?: JsonObject
  /** Configurations of plugins, by the plugin's name. */
  readonly pluginConfigs?: JsonObject
}

const listOf = (answer: JsonObject, member: string): ReadonlyArray<JsonObject> => {
  const list = answer[member]
  return isArray(list) ? list.map(objectOr) : []
}

const textOf = (value: Json | undefined): string => stringOr(value) ?? ""

const textsOf = (value: Json | undefined): ReadonlyArray<string> => (isArray(value) ? value.map(textOf) : [])

/** Removes members that are null. */
const given = (fields: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined)) as JsonObject

const picked = (from: JsonObject, names: ReadonlyArray<string>): JsonObject =>
  given(Object.fromEntries(names.map((name) => [name, from[name] ?? null])))

const nodeFields = ["prefix", "name", "type", "baseUrl", "wires", "headers", "chatPath", "modelsPath", "mediaPaths"]
const connectionFields = [
  "provider",
  "name",
  "apiKey",
  "authType",
  "isActive",
  "proxyEnabled",
  "priority",
  "baseUrl",
  "wires",
  "defaultModel",
  "models",
  "tier",
  "maxConcurrent",
  "headers",
  "quotas"
]
const keyFields = [
  "name",
  "scopes",
  "allowedModels",
  "blockedModels",
  "allowedEndpoints",
  "allowedCombos",
  "allowedProviders",
  "allowedConnections",
  "ipAllowlist",
  "expiresAt",
  "rateLimits",
  "maxRequestsPerDay",
  "maxRequestsPerMinute",
  "maxSessions",
  "accessSchedule",
  "noLog",
  "isActive"
]

const serverFields = ["name", "url", "timeoutMs", "enabled", "allowedTools"]

/** A registered MCP server with its keys by name. */
const serverOf = (server: JsonObject, names: ReadonlyMap<string, string>): JsonObject => {
  const headers = textsOf(server["headerNames"])
  const allowedKeys = server["allowedKeys"]
  return {
    ...picked(server, serverFields),
    ...(headers.length > 0 ? { headers: namesOnly(headers) } : {}),
    // Of keys that are gone nothing is left to name; an empty list still means that no key may use it.
    ...(isArray(allowedKeys) ? { allowedKeys: textsOf(allowedKeys).flatMap((id) => names.get(id) ?? []) } : {})
  }
}

/** An API key with its connections by name; those that are gone keep their ids, so that the key may not use more than before. */
const keyOf = (key: JsonObject, names: ReadonlyMap<string, string>): JsonObject => {
  const { allowedConnections, ...fields } = picked(key, keyFields)
  return isArray(allowedConnections)
    ? { ...fields, allowedConnections: textsOf(allowedConnections).map((id) => names.get(id) ?? id) }
    : fields
}

export const connectionName = (connection: JsonObject): string =>
  `${textOf(connection["provider"])}/${textOf(connection["name"])}`

const modelFields = ["provider", "modelId", "name", "contextLength", "maxOutputTokens", "capabilities", "hidden"]
const budgetFields = [
  "dailyLimitUsd",
  "weeklyLimitUsd",
  "monthlyLimitUsd",
  "warningThreshold",
  "resetInterval",
  "resetTime",
  "tz"
]
const limitFields = ["scopeType", "scopeValue", "tokenLimit", "resetInterval", "resetTime", "tz", "enabled"]
const proxyFields = ["name", "type", "host", "port", "family", "isActive"]
const webhookFields = ["url", "events", "kind", "description"]

/** Makes the name of a model in a file. */
export const modelName = (model: JsonObject): string => `${textOf(model["provider"])}/${textOf(model["modelId"])}`
export const limitName = (limit: JsonObject): string =>
  [limit["key"], limit["scopeType"], limit["scopeValue"], limit["resetInterval"]].map(textOf).join(" ")
export const assignmentName = (assignment: JsonObject): string =>
  [assignment["scope"], assignment["of"]].map(textOf).join(" ").trim()

const modelOf = (model: JsonObject): JsonObject => {
  const { capabilities, ...fields } = picked(model, modelFields)
  return Object.keys(objectOr(capabilities)).length === 0 ? fields : { ...fields, capabilities: objectOr(capabilities) }
}

/** A webhook without its secrets, which are members of its own that say whether there are any. */
const webhookOf = (webhook: JsonObject): JsonObject => {
  const { password, ...mail } = given(objectOr(webhook["mail"]))
  return {
    ...picked(webhook, webhookFields),
    enabled: webhook["enabled"] === 1 || webhook["enabled"] === true,
    ...(Object.keys(mail).length === 0 ? {} : { mail }),
    ...(password === undefined ? {} : { [hasSecret]: true })
  }
}

/** Mark of a thing whose login or password a file does not have. No member of a body has this name. */
export const hasSecret = "(has a secret)"

/** The values of a plugin that are not secret and not the plugin's own defaults. */
const pluginOf = (name: string, config: JsonObject): JsonObject => {
  const schema = objectOr(config["schema"])
  const values = Object.entries(objectOr(config["values"]))
  const isSecret = (field: string): boolean => objectOr(schema[field])["secret"] === true
  const set = values.filter(
    ([field, value]) =>
      value !== null && !isSecret(field) && JSON.stringify(value) !== JSON.stringify(objectOr(schema[field])["default"])
  )
  return {
    name,
    values: Object.fromEntries(set) as JsonObject,
    ...(values.some(([field, value]) => isSecret(field) && value !== null) ? { [hasSecret]: true } : {})
  }
}

/** Names of keys and connections by their ids. */
interface Names {
  readonly keys: ReadonlyMap<string, string>
  readonly connections: ReadonlyMap<string, string>
}

const quotaGroupOf = (group: JsonObject, names: Names): JsonObject => {
  const members = listOf(group, "members").map((each): JsonObject => ({
    connection: names.connections.get(textOf(each["connectionId"])) ?? textOf(each["connectionId"]),
    weight: each["weight"] ?? null
  }))
  const allocations = listOf(group, "allocations").map((each): JsonObject => ({
    key: names.keys.get(textOf(each["apiKeyId"])) ?? textOf(each["apiKeyId"]),
    weight: each["weight"] ?? null
  }))
  return { name: group["name"] ?? null, members, ...(allocations.length === 0 ? {} : { allocations }) }
}

/** Names the target of an assignment; null: it is gone. */
const assignedTo = ({ scope, scopeId }: JsonObject, names: Names): string | null => {
  const id = textOf(scopeId)
  switch (scope) {
    case "key":
      return names.keys.get(id) ?? null
    case "connection":
      return names.connections.get(id) ?? null
    case "provider":
      return id
    default:
      return ""
  }
}

/** A combo's target with its connection by name, and without members that say nothing. */
export const targetOf = (target: JsonObject, names: ReadonlyMap<string, string>): JsonObject => {
  const { connectionId, ...rest } = target
  const connection = typeof connectionId === "string" ? (names.get(connectionId) ?? connectionId) : null
  return given({ ...rest, connection })
}

type Thinged = (
  kind: Thing["kind"],
  name: string,
  id: Json | undefined,
  fields: JsonObject,
  readOnly?: boolean
) => Thing

/** Reads the things that belong to keys and connections, and settings of their own. */
const furtherOf = (answers: Answers, names: Names, thing: Thinged): ReadonlyArray<Thing> => {
  const of = (part: keyof Answers, member: string) => listOf(answers[part] ?? {}, member)
  const hooks = byAge(of("webhooks", "webhooks"), "created_at")
  const urls = labelsOf(hooks.map((each) => textOf(each["url"])))
  return [
    ...of("proxies", "proxies").map((each) =>
      thing(
        "proxy",
        textOf(each["name"]),
        each["id"],
        {
          ...picked(each, proxyFields),
          ...(each["username"] === null && each["password"] === null ? {} : { [hasSecret]: true })
        },
        each["source"] === "free"
      )
    ),
    ...of("models", "models").map((each) => thing("model", modelName(each), null, modelOf(each))),
    ...of("quotaGroups", "groups").map((each) =>
      thing("quotaGroup", textOf(each["name"]), each["id"], quotaGroupOf(each, names))
    ),
    ...of("budgets", "budgets").flatMap((each) => {
      const key = names.keys.get(textOf(each["apiKeyId"]))
      if (key === undefined || !isObject(each["budget"])) return []
      return [thing("budget", key, null, { key, ...picked(each["budget"], budgetFields) })]
    }),
    ...of("tokenLimits", "limits").flatMap((each) => {
      const key = names.keys.get(textOf(each["apiKeyId"]))
      if (key === undefined) return []
      const fields = { key, ...picked(each, limitFields) }
      return [thing("tokenLimit", limitName(fields), each["id"], fields)]
    }),
    ...of("proxyAssignments", "assignments").flatMap((each) => {
      const to = assignedTo(each, names)
      if (to === null || each["proxyName"] === null) return []
      const fields: JsonObject = {
        scope: each["scope"] ?? null,
        ...(to === "" ? {} : { of: to }),
        proxy: each["proxyName"] ?? null
      }
      return [thing("proxyAssignment", assignmentName(fields), null, fields)]
    }),
    ...hooks.map((each, at) => thing("webhook", urls[at] ?? "", each["id"], webhookOf(each))),
    ...of("plugins", "plugins").map((each) => {
      const name = textOf(each["name"])
      return thing("plugin", name, null, pluginOf(name, objectOr((answers.pluginConfigs ?? {})[name])))
    }),
    ...(answers.resilience === undefined ? [] : [thing("resilience", "resilience", null, answers.resilience)])
  ]
}

export const presentOf = (answers: Answers): ReadonlyArray<Thing> => {
  const { aliases, combos, connections, keys: keyList, mcpServers, nodes, prices, settings } = answers
  const accounts = listOf(connections, "connections")
  const keys = byAge(listOf(keyList, "keys"), "createdAt")
  const labels = labelsOf(keys.map((each) => textOf(each["name"])))
  const keyNames = new Map(keys.map((each, at) => [textOf(each["id"]), labels[at] ?? ""]))
  const names = new Map(accounts.map((each) => [textOf(each["id"]), connectionName(each)]))
  const thing = (
    kind: Thing["kind"],
    name: string,
    id: Json | undefined,
    fields: JsonObject,
    readOnly = false
  ): Thing => ({
    kind,
    name,
    id: stringOr(id),
    fields,
    readOnly
  })
  return [
    ...listOf(nodes, "nodes").map((each) =>
      thing("node", textOf(each["prefix"]), each["id"], picked(each, nodeFields))
    ),
    ...accounts.map((each) =>
      thing("connection", connectionName(each), each["id"], picked(each, connectionFields), each["source"] === "env")
    ),
    ...listOf(combos, "combos").map((each) =>
      thing("combo", textOf(each["name"]), each["id"], {
        ...picked(each, ["id", "name", "strategy", "config", "isActive"]),
        targets: listOf(each, "targets").map((target) => targetOf(target, names))
      })
    ),
    ...listOf(aliases, "aliases").map((each) =>
      thing("alias", textOf(each["alias"]), each["alias"], { model: each["model"] ?? null })
    ),
    ...Object.entries(prices).flatMap(([provider, models]) =>
      // Such a price is of no provider, and its name would be that of another one's.
      provider.includes("/")
        ? []
        : Object.entries(objectOr(models)).map(([model, price]) =>
            thing("price", `${provider}/${model}`, null, { price: price ?? null })
          )
    ),
    ...keys.map((each, at) => thing("key", labels[at] ?? "", each["id"], keyOf(each, names))),
    ...listOf(mcpServers, "servers").map((each) =>
      thing(
        "mcpServer",
        textOf(each["name"]),
        each["id"],
        serverOf(each, keyNames),
        // A program is named at the gateway's machine only.
        each["transport"] === "stdio"
      )
    ),
    ...furtherOf(answers, { keys: keyNames, connections: names }, thing),
    thing("settings", "settings", null, settings)
  ]
}
