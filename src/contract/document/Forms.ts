/** Adds what a form needs beside types: a label of each field, what it has where nothing is said, and which texts are long. */
import { newObjects, settings } from "./Defaults.ts"
import { asMap, isMap, type Json, type JsonMap } from "./JsonSchemas.ts"

/** Words of a name that are written otherwise than in small letters. */
const words: Readonly<Record<string, string>> = {
  ms: "(ms)",
  usd: "(USD)",
  bytes: "(bytes)",
  seconds: "(s)",
  url: "URL",
  id: "ID",
  ids: "IDs",
  ip: "IP",
  tz: "time zone",
  api: "API",
  mcp: "MCP",
  ca: "CA",
  tls: "TLS",
  pii: "PII",
  http: "HTTP",
  https: "HTTPS",
  json: "JSON",
  lkgp: "last known good provider",
  dns: "DNS",
  csrf: "CSRF",
  pem: "PEM",
  ipv6: "IPv6"
}

/** Labels that do not follow from the name. */
const labels: Readonly<Record<string, string>> = {
  noLog: "Keep no content",
  isActive: "Active",
  ipAllowlist: "Allowed IP addresses",
  maxSessions: "Requests at the same time",
  baseUrl: "Address",
  params_json: "Parameters (JSON)"
}

/** The label of a field by its name: `maxRequestsPerDay` is `Max requests per day`, `timeoutMs` is `Timeout (ms)`. */
export const labelOf = (name: string): string => {
  const own = Object.hasOwn(labels, name) ? labels[name] : undefined
  if (own !== undefined) return own
  const text = name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1 $2")
    .split(/[\s_-]+/)
    .map((word) => word.toLowerCase())
    .map((word) => (Object.hasOwn(words, word) ? (words[word] ?? word) : word))
    .join(" ")
  return text.slice(0, 1).toUpperCase() + text.slice(1)
}

/** A text that may be longer than this is written in several lines. */
export const longTextChars = 2_048

const isLongText = (schema: JsonMap): boolean =>
  [schema["type"]].flat().includes("string") &&
  schema["format"] === undefined &&
  Number(schema["maxLength"] ?? 0) > longTextChars

const withLabels = (schema: Json, isBody: boolean): Json => {
  if (Array.isArray(schema)) return schema.map((entry) => withLabels(entry, isBody))
  if (!isMap(schema)) return schema
  const members = Object.fromEntries(
    Object.entries(schema).map(([key, value]) => {
      if (key === "properties") {
        const labelled = Object.entries(asMap(value)).map(([name, field]) => {
          const inner = withLabels(field, isBody)
          return [name, isMap(inner) ? { title: labelOf(name), ...inner } : inner] as const
        })
        return [key, Object.fromEntries(labelled)] as const
      }
      const isSchema = key === "items" || key === "anyOf" || key === "additionalProperties"
      return [key, isSchema ? withLabels(value, isBody) : value] as const
    })
  )
  return isBody && isLongText(members) ? { ...members, "x-multiline": true } : members
}

const withDefaults = (schema: JsonMap, defaults: JsonMap): JsonMap => ({
  ...schema,
  properties: Object.fromEntries(
    Object.entries(asMap(schema["properties"])).map(([name, field]) => [
      name,
      Object.hasOwn(defaults, name) ? { ...asMap(field), default: defaults[name] ?? null } : field
    ])
  )
})

const defaults: Readonly<Record<string, JsonMap>> = { ...newObjects, ...settings } as unknown as Record<string, JsonMap>

/** The schema with the labels and the defaults of its fields. `isBody`: it is of bodies that people send. */
export const forForms = (name: string, schema: JsonMap, isBody: boolean): JsonMap => {
  const known = Object.hasOwn(defaults, name) ? defaults[name] : undefined
  return asMap(withLabels(known === undefined ? schema : withDefaults(schema, known), isBody))
}
