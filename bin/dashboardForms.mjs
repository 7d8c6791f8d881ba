// The operations of the management API for the dashboard's forms: one file of JSON for each, loaded when its form opens, and an index of them.
import { createHash } from "node:crypto"
import { bundled } from "./dashboardApi.mjs"

const hashOf = (text) => createHash("sha256").update(text).digest("hex").slice(0, 8)

/** References are put in their place; deeper ones than people fill in are left to JSON as a whole. */
const deepest = 8

/** How the contract describes a member that is taken as it was read, and not looked at (`contract/Inputs.ReadOnly`). */
const readOnlyWords = "Shown, and cannot be changed"

/** Marks members that are no field of a form. */
const marked = (schema) =>
  schema.type === undefined && String(schema.description ?? "").startsWith(readOnlyWords)
    ? { ...schema, readOnly: true }
    : schema

const resolved = (schema, schemas, depth = 0) => {
  if (schema === null || typeof schema !== "object") return schema
  if (Array.isArray(schema)) return schema.map((one) => resolved(one, schemas, depth))
  if (typeof schema.$ref === "string") {
    if (depth >= deepest) return {}
    const { $ref, ...own } = schema
    const target = schemas[$ref.split("/").at(-1)] ?? {}
    return { ...resolved(target, schemas, depth + 1), ...own }
  }
  return marked(
    Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, resolved(value, schemas, depth)]))
  )
}

/** Methods that change what GET shows at the same path, and operations that do so by POST. */
const changing = new Set(["put", "patch", "delete"])
const changesByPost = new Set(["limitsSetBudget"])

/** Names of the query by which GET shows what an operation changes; null: nothing is shown at its path. */
const shownByOf = (method, operation, shows) =>
  shows === undefined || !(changing.has(method) || changesByPost.has(operation.operationId))
    ? null
    : (shows.parameters ?? []).filter((parameter) => parameter.in === "query").map(({ name }) => name)

const operationOf = (path, method, { get: shows, parameters: shared }, operation, document) => {
  const { parameters: known = {}, schemas = {} } = document.components
  const body = operation.requestBody?.content?.["application/json"]
  const parameters = [...(shared ?? []), ...(operation.parameters ?? [])]
    .map((parameter) => (parameter.$ref ? known[parameter.$ref.split("/").at(-1)] : parameter))
    .filter((parameter) => parameter.in === "path" || parameter.in === "query")
  return {
    id: operation.operationId,
    method: method.toUpperCase(),
    path,
    tag: operation.tags?.[0] ?? "",
    summary: operation.summary ?? "",
    description: operation.description ?? "",
    parameters: parameters.map(({ description, in: place, name, required, schema }) => ({
      name,
      in: place,
      isRequired: required === true,
      description: description ?? "",
      schema: resolved(schema ?? {}, schemas)
    })),
    body: body === undefined ? null : resolved(body.schema, schemas),
    example: body?.example ?? null,
    isBodyRequired: operation.requestBody?.required === true,
    shownBy: shownByOf(method, operation, shows)
  }
}

const methods = new Set(["get", "post", "put", "patch", "delete"])

/** What models are asked by is for clients and the playground; bodies that are no JSON have no form. */
const isForForms = (path, operation) =>
  path.startsWith("/api/") &&
  !/^\/api\/(?:v1\/editor|chat|generate|embed|embeddings|show|tags|version|ps)(?:\/|$)/.test(path) &&
  !path.startsWith("/api/mcp/stream") &&
  (operation.requestBody === undefined || operation.requestBody.content?.["application/json"] !== undefined)

/** Operations that pages of their own fill in: their bodies stand together in one file. */
const filledOperations = new Set([
  "gatewaySettingsUpdate",
  "routingSettingsUpdate",
  "resilienceUpdate",
  "gatewaySettingsSetIpFilter",
  "gatewaySettingsSetThinkingBudget",
  "gatewaySettingsSetSystemPrompt",
  "gatewaySettingsSetRequireLogin",
  "guardrailsSet",
  "compressionSetSettings",
  "webhooksCreate",
  "webhooksUpdate",
  "memoryCreate",
  "usersCreate",
  "usersUpdate",
  "teamsCreate",
  "teamsUpdate"
])

/** Texts of the files by name, and the names of the index and of the bodies among them. */
export const operations = async (rolldown) => {
  const { openApiJson } = await bundled(rolldown, 'export { openApiJson } from "./OpenApiDocument.ts"')
  const document = JSON.parse(openApiJson())
  const texts = new Map()
  const summaries = []
  const bodies = {}
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      if (!methods.has(method) || !isForForms(path, operation)) continue
      const whole = operationOf(path, method, item, operation, document)
      const text = JSON.stringify(whole)
      const file = `op-${whole.id}-${hashOf(text)}.json`
      texts.set(file, text)
      const { id, summary, tag } = whole
      if (filledOperations.has(id)) bodies[id] = whole.body
      summaries.push({ id, method: whole.method, path, tag, summary, file, hasBody: whole.body !== null })
    }
  }
  const text = JSON.stringify(summaries)
  const index = `operations-${hashOf(text)}.json`
  texts.set(index, text)
  const bodiesText = JSON.stringify(bodies)
  const filled = `bodies-${hashOf(bodiesText)}.json`
  texts.set(filled, bodiesText)
  return { filled, index, texts }
}
