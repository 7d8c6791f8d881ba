/** Pages of the API, one for each part of it, written from the API document. Pure. */

const methods = ["get", "post", "put", "patch", "delete", "head", "options"]

const slugOf = (text) =>
  text
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "")

/** One line of a table: bars and line ends have no place in it. */
const cell = (text) => (text ?? "").replaceAll(/\s+/g, " ").replaceAll("|", "\\|").trim()

const looked = (document, schema) =>
  typeof schema?.$ref === "string"
    ? schema.$ref
        .slice(2)
        .split("/")
        .reduce((at, part) => at?.[part.replaceAll("~1", "/").replaceAll("~0", "~")], document)
    : schema

const typeOf = (document, given, depth = 0) => {
  const schema = looked(document, given)
  if (schema === undefined || depth > 3) return "value"
  if ("const" in schema) return JSON.stringify(schema.const)
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => JSON.stringify(value)).join(" or ")
  const variants = schema.anyOf ?? schema.oneOf
  if (Array.isArray(variants))
    return [...new Set(variants.map((each) => typeOf(document, each, depth + 1)))].join(" or ")
  if (schema.type === "array") return `list of ${typeOf(document, schema.items, depth + 1)}`
  return Array.isArray(schema.type) ? schema.type.join(" or ") : (schema.type ?? "value")
}

const fieldRows = (document, given) => {
  const schema = looked(document, given)
  const required = new Set(schema?.required ?? [])
  return Object.entries(schema?.properties ?? {}).map(([name, field]) => {
    const description = looked(document, field)?.description ?? field.description
    return `| \`${name}\` | ${cell(typeOf(document, field))} | ${required.has(name) ? "yes" : ""} | ${cell(description)} |`
  })
}

const table = (title, rows) =>
  rows.length === 0 ? [] : [title, "", "| name | type | required | meaning |", "|---|---|---|---|", ...rows, ""]

const parameterRows = (document, parameters) =>
  parameters.map((given) => {
    const { description, in: where, name, required, schema } = looked(document, given)
    return `| \`${name}\` (${where}) | ${cell(typeOf(document, schema))} | ${required ? "yes" : ""} | ${cell(description)} |`
  })

const jsonOf = (document, given) => looked(document, given)?.content?.["application/json"]?.schema

const operationLines = (document, { method, operation, path }) => {
  const parameters = operation.parameters ?? []
  const body = jsonOf(document, operation.requestBody)
  const success = Object.entries(operation.responses ?? {}).find(([status]) => status.startsWith("2"))
  const answer = success === undefined ? undefined : jsonOf(document, success[1])
  return [
    `## ${method.toUpperCase()} \`${path}\``,
    "",
    operation.summary ?? "",
    "",
    operation.description ?? "",
    "",
    ...table("Parameters:", parameterRows(document, parameters)),
    ...table("Body:", fieldRows(document, body)),
    ...table("Answer:", fieldRows(document, answer)),
    `Statuses: ${Object.keys(operation.responses ?? {}).join(", ")}.`,
    ""
  ]
}

const operationsOf = (document) =>
  Object.entries(document.paths).flatMap(([path, item]) =>
    methods.flatMap((method) => (item[method] === undefined ? [] : [{ method, path, operation: item[method] }]))
  )

/** The pages, the list of them first. */
export const referencePages = (document) => {
  const groups = new Map()
  for (const each of operationsOf(document)) {
    const tag = each.operation.tags?.[0] ?? "other"
    groups.set(tag, [...(groups.get(tag) ?? []), each])
  }
  const pages = [...groups].map(([tag, operations]) => ({
    path: `api/${slugOf(tag)}.md`,
    title: tag,
    operations,
    text: [`# ${tag}`, "", ...operations.flatMap((each) => operationLines(document, each))].join("\n")
  }))
  const list = pages.map(
    ({ operations, path, title }) => `| [${title}](/${path.replace(/\.md$/, "")}) | ${operations.length} |`
  )
  const index = ["# API", "", "All routes, from the document that a running gateway has at `/api/openapi.json`.", ""]
  return [
    {
      path: "api/index.md",
      title: "All parts",
      text: [...index, "| part | operations |", "|---|---|", ...list, ""].join("\n")
    },
    ...pages
  ]
}
