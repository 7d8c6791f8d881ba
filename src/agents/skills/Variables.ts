/** Placeholders in examples for the ids of the reader's own gateway: shell variables, and the sources of their values. Pure. */
import {
  exampleConnectionId,
  exampleId,
  exampleKeyId,
  exampleProxyId,
  exampleRequestId
} from "../../contract/Examples.ts"
import type { Json } from "../../contract/document/JsonSchemas.ts"
import type { SkillOperation } from "./Operations.ts"

export interface Variable {
  /** Name in capitals, without the dollar sign. */
  readonly name: string
  /** Source of a value, as a sentence. */
  readonly source: string
}

const capitals = (words: string): string =>
  words
    .replaceAll(/([a-z])([A-Z])/g, "$1_$2")
    .replaceAll(/\W+/g, "_")
    .toUpperCase()

const singular = (word: string): string =>
  word
    .replace(/ies$/, "y")
    .replace(/(ch|sh|x)es$/, "$1")
    .replace(/s$/, "")

/** Parameters of paths that are ids of something on this gateway. The others work as they are documented. */
const isId = (name: string): boolean => /^(?:id|other|job|batch|file|connectionId|requestId)$/.test(name)

const fixed: Readonly<Record<string, Variable>> = {
  connectionId: { name: "CONNECTION_ID", source: "An `id` of `GET /api/providers`." },
  requestId: {
    name: "REQUEST_ID",
    source: "The header `X-Gateway-Request-Id` of an answer, or an `id` of `GET /api/usage/logs`."
  },
  connection: { name: "CONNECTION_ID", source: "An `id` of `GET /api/providers`." },
  provider: { name: "CONNECTION_ID", source: "An `id` of `GET /api/providers`." },
  account: { name: "CONNECTION_ID", source: "An `id` of `GET /api/providers`." },
  proxy: { name: "PROXY_ID", source: "An `id` of `GET /api/v1/management/proxies`." },
  key: { name: "KEY_ID", source: "An `id` of `GET /api/keys`." }
}

const ofCollection = (before: string): Variable => {
  const collection = before.split("/").findLast((segment) => segment !== "" && !segment.startsWith("{")) ?? "thing"
  const known = fixed[singular(collection)]
  return known ?? { name: `${capitals(singular(collection))}_ID`, source: `An \`id\` of \`GET ${before}\`.` }
}

/** Paths whose ids are the same on every gateway. */
const hasKnownIds: ReadonlyArray<string> = ["/docs/", "/skills/", "/api/agent-skills/", "/api/cli-tools/"]

/** Chooses the variable of a parameter of a path; null: its documented example works. */
export const ofParameter = (path: string, name: string): Variable | null => {
  if (!isId(name) || hasKnownIds.some((beginning) => path.startsWith(beginning))) return null
  const own = fixed[name]
  if (own !== undefined) return own
  const before = path.slice(0, path.indexOf(`/{${name}}`))
  if (before.startsWith("/api/tools/traffic-inspector/sessions"))
    return { name: "RECORDING_ID", source: "An `id` of `GET /api/tools/traffic-inspector/sessions`." }
  if (name === "other")
    return { name: "OTHER_ID", source: "Another `id` of `GET /api/tools/traffic-inspector/requests`." }
  if (before.startsWith("/api/tools/traffic-inspector/"))
    return { name: "CAPTURED_ID", source: "An `id` of `GET /api/tools/traffic-inspector/requests`." }
  if (before.startsWith("/api/v1/accounts")) return fixed["connectionId"] ?? null
  if (before === "/api/context/combos")
    return { name: "COMPRESSION_COMBO_ID", source: `An \`id\` of \`GET ${before}\`.` }
  if (before.endsWith("/runs")) return { name: "RUN_ID", source: "The `run.id` of `POST /api/evals`." }
  if (before.endsWith("/suites")) return { name: "SUITE_ID", source: "The `suite.id` of `POST /api/evals/suites`." }
  if (before.endsWith("/raw-output"))
    return { name: "RAW_OUTPUT_ID", source: "The id that stands in a shortened output." }
  if (name === "job") return { name: "JOB_ID", source: `The \`id\` of \`POST ${before}\` with \`"async": true\`.` }
  return ofCollection(before)
}

const examples: Readonly<Record<string, Variable | undefined>> = {
  [exampleKeyId]: fixed["key"],
  [exampleProxyId]: fixed["proxy"],
  [exampleConnectionId]: fixed["connectionId"],
  [exampleRequestId]: fixed["requestId"]
}

const password: Variable = { name: "GATEWAY_PASSWORD", source: "The admin password; the owner has it." }

/** Chooses the variable of a value of an example; null: the value works as it is. */
export const ofValue = (field: string, value: string): Variable | null => {
  if (field === "password" || field === "currentPassword") return password
  const known = examples[value]
  if (known !== undefined) return known
  if (field === "input_file_id") return ofCollection("/v1/files")
  if (value !== exampleId) return null
  const name = field.replace(/Ids?$/, "")
  return (
    fixed[name] ?? {
      name: `${capitals(name)}_ID`,
      source: `The id of a ${name.replaceAll(/[A-Z]/g, (c) => ` ${c.toLowerCase()}`)}.`
    }
  )
}

/** Chooses the variable of a value that the query of a path must have; null: the value works as it is. */
export const ofQuery = (path: string, name: string, value: string): Variable | null =>
  name === "id" && value === exampleId ? ofCollection(path) : ofValue(name, value)

const inValue = (field: string, value: Json): ReadonlyArray<Variable> => {
  if (typeof value === "string") return [ofValue(field, value)].flatMap((each) => each ?? [])
  if (typeof value !== "object" || value === null) return []
  return Array.isArray(value)
    ? (value as ReadonlyArray<Json>).flatMap((each) => inValue(field, each))
    : Object.entries(value).flatMap(([name, each]) => inValue(name, each))
}

/** All that the example of an operation uses, each once. */
export const variablesOf = ({ body, parameters, path }: SkillOperation): ReadonlyArray<Variable> => {
  const all = [
    ...parameters.flatMap(({ example, in: place, name, required }) =>
      place === "path"
        ? (ofParameter(path, name) ?? [])
        : required && typeof example === "string"
          ? (ofQuery(path, name, example) ?? [])
          : []
    ),
    ...(body === null ? [] : inValue("", body.example))
  ]
  return [...new Map(all.map((variable) => [variable.name, variable])).values()]
}
