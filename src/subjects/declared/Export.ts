/** A gateway's configuration as a file: without what is as usual, and with references in the place of secrets. Pure. */
import { defaultGatewaySettings } from "../settings/entity.ts"
import { defaultWarningThreshold } from "../limits/entity.ts"
import { defaultResilience } from "../resilience/entity.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr } from "../../wire/json/Json.ts"
import { hasSecret } from "./CurrentState.ts"
import { priceParts, same, type Thing } from "./Plan.ts"
import { escaped, variableOf } from "./Variables.ts"

export interface Exported {
  readonly document: JsonObject
  /** Variables that the file refers to. */
  readonly variables: ReadonlyArray<string>
  /** Sentences on the parts that a file cannot hold. */
  readonly leftOut: ReadonlyArray<string>
}

/** Values that a new thing has by itself. */
const usual: Readonly<Record<string, Json>> = {
  isActive: true,
  proxyEnabled: true,
  models: [],
  quotas: [],
  authType: "apikey",
  config: {},
  noLog: false,
  rateLimits: [],
  scopes: [],
  timeoutMs: 30_000,
  enabled: true,
  hidden: false,
  family: "auto",
  kind: "custom",
  warningThreshold: defaultWarningThreshold,
  dailyLimitUsd: 0,
  weeklyLimitUsd: 0,
  monthlyLimitUsd: 0,
  resetTime: "00:00",
  tz: "UTC"
}

const isUsual = (name: string, value: Json): boolean =>
  value === null ||
  (name in usual && same(usual[name], value)) ||
  (isArray(value) && value.length === 0 && name !== "targets")

const written = (value: Json): Json => {
  if (typeof value === "string") return escaped(value)
  if (isArray(value)) return value.map(written)
  if (!isObject(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, written(member ?? null)]))
}

/** A header's value cannot have this sign, and each mask has it. */
const isMasked = (value: Json): boolean => typeof value === "string" && value.includes("…")

const kept = (fields: JsonObject, left: ReadonlySet<string> = new Set()): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      left.has(name) || isUsual(name, value ?? null) ? [] : [[name, written(value ?? null)]]
    )
  )

const unsaid: ReadonlySet<string> = new Set([hasSecret])

const elsewhere =
  "What is no part of the file at all: feature flags, the admin password, settings that have routes of their own (IP filter, thinking budget, system prompt, switch of proxies, guardrails, compression profiles), tunnels, capture, agents of the bridge, suites of evaluations, presets of the playground, skills, memories, files, batches, and what was used."

/** The members of settings that are not as usual. */
const changed = (settings: JsonObject, defaults: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(settings).flatMap(([name, value]): ReadonlyArray<readonly [string, Json]> => {
      const usually = defaults[name]
      // Settings that have no default here belong to routes of their own, and may be secrets.
      if (usually === undefined || same(usually, value)) return []
      if (isObject(value) && isObject(usually) && Object.keys(usually).length > 0) {
        const inner = changed(value, usually)
        return Object.keys(inner).length === 0 ? [] : [[name, inner]]
      }
      return [[name, written(value ?? null)]]
    })
  )

/** Empty lists that mean "none" where an absent one means "all". */
const none = (fields: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([name, value]) => (name === "allowedKeys" || name === "allowedTools") && isArray(value) && value.length === 0
    )
  ) as JsonObject

const secret = new Set(["apiKey", "headers"])

/** An export as it is written: the variables that secrets became, and what it cannot hold. */
class Exporting {
  readonly variables = new Set<string>()
  readonly leftOut: Array<string> = []
  readonly #present: ReadonlyArray<Thing>

  constructor(present: ReadonlyArray<Thing>) {
    this.#present = present
  }

  of(kind: Thing["kind"]): ReadonlyArray<Thing> {
    return this.#present.filter((thing) => thing.kind === kind)
  }

  plain(kind: Thing["kind"]): ReadonlyArray<JsonObject> {
    return this.of(kind).map(({ fields }) => kept(fields, unsaid))
  }

  variable(name: string): string {
    this.variables.add(name)
    return `\${${name}}`
  }

  headers(fields: JsonObject, ...owner: ReadonlyArray<string>): JsonObject {
    const headers = Object.entries(objectOr(fields["headers"])).map(([name, value]) => [
      name,
      isMasked(value ?? null)
        ? this.variable(variableOf(...owner, name).replace(/_API_KEY$/, ""))
        : written(value ?? null)
    ])
    return headers.length === 0 ? {} : { headers: Object.fromEntries(headers) as JsonObject }
  }
}

const connectionsOf = (exporting: Exporting): ReadonlyArray<JsonObject> =>
  exporting.of("connection").flatMap(({ fields, name, readOnly }): ReadonlyArray<JsonObject> => {
    if (readOnly) {
      exporting.leftOut.push(`The connection '${name}' comes from the environment of the gateway.`)
      return []
    }
    if (fields["authType"] === "oauth") {
      exporting.leftOut.push(`The connection '${name}' was made by a sign-in; sign in anew on the other gateway.`)
      return []
    }
    const [provider = "", ...rest] = name.split("/")
    const key =
      typeof fields["apiKey"] === "string" ? { apiKey: exporting.variable(variableOf(provider, rest.join("_"))) } : {}
    return [{ ...kept(fields, secret), ...key, ...exporting.headers(fields, provider, rest.join("_")) }]
  })

const pricesOf = (exporting: Exporting): JsonObject => {
  const priced = new Map<string, Array<readonly [string, Json]>>()
  for (const { fields, name } of exporting.of("price")) {
    const [provider, model] = priceParts(name)
    const models = priced.get(provider) ?? []
    models.push([model, fields["price"] ?? null])
    priced.set(provider, models)
  }
  return Object.fromEntries(Array.from(priced, ([provider, models]) => [provider, Object.fromEntries(models)]))
}

const serversOf = (exporting: Exporting): ReadonlyArray<JsonObject> =>
  exporting.of("mcpServer").flatMap(({ fields, name, readOnly }): ReadonlyArray<JsonObject> => {
    if (!readOnly) return [{ ...kept(fields, secret), ...none(fields), ...exporting.headers(fields, "mcp", name) }]
    exporting.leftOut.push(
      `The MCP server '${name}' is a program of the gateway's machine; add it there with 'gateway mcp add'.`
    )
    return []
  })

const proxiesOf = (exporting: Exporting): ReadonlyArray<JsonObject> =>
  exporting.of("proxy").flatMap(({ fields, name, readOnly }): ReadonlyArray<JsonObject> => {
    if (readOnly)
      exporting.leftOut.push(`The proxy '${name}' was found in a public list; look for free ones on the other gateway.`)
    else if (hasSecret in fields)
      exporting.leftOut.push(`What the proxy '${name}' logs in with: set it with 'gateway proxy edit'.`)
    return readOnly ? [] : [kept(fields, unsaid)]
  })

const assignmentsOf = (exporting: Exporting): ReadonlyArray<JsonObject> => {
  const free = new Set(exporting.of("proxy").flatMap(({ name, readOnly }) => (readOnly ? [name] : [])))
  return exporting
    .of("proxyAssignment")
    .filter(({ fields }) => !free.has(String(fields["proxy"])))
    .map(({ fields }) => kept(fields))
}

const webhooksOf = (exporting: Exporting): ReadonlyArray<JsonObject> => {
  const webhooks = exporting.of("webhook").map(({ fields, name }) => {
    if (hasSecret in fields) exporting.leftOut.push(`The password of the mail server of the webhook '${name}'.`)
    return kept(fields, unsaid)
  })
  if (webhooks.length > 0)
    exporting.leftOut.push(
      "Secrets of webhooks: one that is made anew signs with another key, which 'gateway webhook show' has."
    )
  return webhooks
}

const pluginsOf = (exporting: Exporting): ReadonlyArray<JsonObject> => {
  const plugins = exporting.of("plugin")
  const configured = plugins.flatMap(({ fields, name }): ReadonlyArray<JsonObject> => {
    if (hasSecret in fields) exporting.leftOut.push(`The secret values of the plugin '${name}'.`)
    return Object.keys(objectOr(fields["values"])).length === 0
      ? []
      : [written({ name, values: fields["values"] ?? {} })].map(objectOr)
  })
  if (plugins.length > 0)
    exporting.leftOut.push("Plugins themselves: install them first, so that their configuration finds them.")
  return configured
}

const resilienceOf = (exporting: Exporting): JsonObject => {
  const [resilience] = exporting.of("resilience")
  const { loadShedding, ...others } = resilience?.fields ?? {}
  const { maxInFlight, ...shedding } = objectOr(loadShedding)
  if (maxInFlight !== undefined)
    exporting.leftOut.push(
      `resilience.loadShedding.maxInFlight (${String(maxInFlight)}): it is taken from the machine's memory where it is not set.`
    )
  return changed({ ...others, loadShedding: shedding }, defaultResilience as unknown as JsonObject)
}

const keysOf = (exporting: Exporting): ReadonlyArray<JsonObject> => {
  const keys = exporting.of("key").map(({ fields }) => kept(fields))
  if (keys.length > 0)
    exporting.leftOut.push("Secrets of API keys are not kept anywhere: a key that is made anew has another one.")
  return keys
}

const settingsOf = (exporting: Exporting): JsonObject => {
  const [settings] = exporting.of("settings")
  return changed(settings?.fields ?? {}, defaultGatewaySettings as unknown as JsonObject)
}

export const exported = (present: ReadonlyArray<Thing>): Exported => {
  const exporting = new Exporting(present)
  // In the order in which the report names what is left out.
  const connections = connectionsOf(exporting)
  const nodes = exporting
    .of("node")
    .map(({ fields, name }) => Object.assign(kept(fields, secret), exporting.headers(fields, name)))
  const servers = serversOf(exporting)
  const proxies = proxiesOf(exporting)
  const webhooks = webhooksOf(exporting)
  const plugins = pluginsOf(exporting)
  const resilience = resilienceOf(exporting)
  exporting.leftOut.push(elsewhere)
  const parts: ReadonlyArray<readonly [string, Json]> = [
    ["version", 1],
    ["nodes", nodes],
    ["connections", connections],
    ["combos", exporting.of("combo").map(({ fields }) => kept(fields))],
    [
      "aliases",
      Object.fromEntries(exporting.of("alias").map(({ fields, name }) => [name, written(fields["model"] ?? null)]))
    ],
    ["prices", pricesOf(exporting)],
    ["keys", keysOf(exporting)],
    ["mcpServers", servers],
    ["models", exporting.plain("model")],
    ["quotaGroups", exporting.plain("quotaGroup")],
    ["budgets", exporting.plain("budget")],
    ["tokenLimits", exporting.plain("tokenLimit")],
    ["proxies", proxies],
    ["proxyAssignments", assignmentsOf(exporting)],
    ["webhooks", webhooks],
    ["plugins", plugins],
    ["resilience", resilience],
    ["settings", settingsOf(exporting)]
  ]
  const document = Object.fromEntries(
    parts.filter(
      ([, part]) =>
        typeof part === "number" || Object.keys(objectOr(part)).length > 0 || (isArray(part) && part.length > 0)
    )
  )
  return { document, variables: [...exporting.variables], leftOut: exporting.leftOut }
}
