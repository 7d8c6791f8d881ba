/** The example of an operation: a command line that works as it is once the variables of its page are set. Pure. */
import type { Json } from "../../contract/document/JsonSchemas.ts"
import { asMap } from "../../contract/document/JsonSchemas.ts"
import type { Body, SkillOperation } from "./Operations.ts"
import { ofParameter, ofQuery, ofValue } from "./Variables.ts"

/** Quotes a text in single quotes; `$NAME` between them is put in by the shell. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

const mark = (name: string): string => `\u{0}${name}\u{0}`

/** A text with marks in it as a word of the shell, in which the variables are replaced. */
const word = (text: string): string =>
  text
    .split("\u{0}")
    .map((part, index) => (index % 2 === 0 ? (part === "" ? "" : quoted(part)) : `"$${part}"`))
    .join("") || "''"

const marked = (field: string, value: Json): Json => {
  if (typeof value === "string") {
    const variable = ofValue(field, value)
    return variable === null ? value : mark(variable.name)
  }
  if (typeof value !== "object" || value === null) return value
  return Array.isArray(value)
    ? (value as ReadonlyArray<Json>).map((each) => marked(field, each))
    : Object.fromEntries(Object.entries(value).map(([name, each]) => [name, marked(name, each)]))
}

const json = (value: Json): string => JSON.stringify(marked("", value)).replaceAll(String.raw`\u0000`, "\u{0}")

/** Names of files that stand for what a form has as a file. */
const fileOf = (field: string, path: string): string | null => {
  if (field === "image" || field === "mask" || field === "input_reference") return `${field}.png`
  if (field !== "file") return null
  return path.includes("/audio/") ? "recording.wav" : "lines.jsonl"
}

const formOf = ({ example }: Body, path: string): ReadonlyArray<string> =>
  Object.entries(asMap(example)).map(([name, value]) => {
    const file = fileOf(name, path)
    const text = typeof value === "string" ? value : JSON.stringify(value)
    return `-F ${quoted(file === null ? `${name}=${text}` : `${name}=@${file}`)}`
  })

const bodyOf = ({ body, path }: SkillOperation): ReadonlyArray<string> => {
  if (body === null) return []
  if (body.contentType === "multipart/form-data") return formOf(body, path)
  if (body.contentType !== "application/json") {
    return [`-H ${quoted(`Content-Type: ${body.contentType}`)}`, "--data-binary @gateway.db"]
  }
  return ["-H 'Content-Type: application/json'", `-d ${word(json(body.example))}`]
}

const credentialOf = ({ method, path, tier }: SkillOperation): ReadonlyArray<string> => {
  if (path === "/api/auth/login") return ["-c cookies.txt"]
  // A code that is refused leaves the session before it.
  if (path === "/api/auth/codes/exchange") return ["-b cookies.txt -c cookies.txt"]
  const session = ["-b cookies.txt", ...(method === "GET" ? [] : ['-H "X-CSRF-Token: $GATEWAY_CSRF_TOKEN"'])]
  // The session that asks is the one that stays.
  if (method === "DELETE" && path === "/api/auth/sessions") return session
  switch (tier) {
    case "public":
    case "local":
      return []
    case "session":
      return session
    case "inference":
    case "self":
    case "known":
      return ['-H "Authorization: Bearer $GATEWAY_API_KEY"']
    case "ingest":
      return ['-H "Authorization: Bearer $INSPECTOR_INTERNAL_INGEST_TOKEN"']
    default:
      return ['-H "Authorization: Bearer $GATEWAY_ADMIN_KEY"']
  }
}

const addressOf = ({ parameters, path }: SkillOperation): string => {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const variable = ofParameter(path, name)
    const example = parameters.find((each) => each.in === "path" && each.name === name)?.example
    return variable === null ? encodeURIComponent(String(example ?? name)) : `$${variable.name}`
  })
  const query = parameters
    .filter((parameter) => parameter.in === "query" && parameter.required)
    .map(({ example, name }) => {
      const variable = typeof example === "string" ? ofQuery(path, name, example) : null
      return `${name}=${variable === null ? encodeURIComponent(String(example)) : `$${variable.name}`}`
    })
  return `"$GATEWAY_URL${filled}${query.length === 0 ? "" : `?${query.join("&")}`}"`
}

/** Answers that are files rather than texts. */
const savedAs: Readonly<Record<string, string>> = {
  "/api/db-backups/export": "gateway.db",
  "/api/db-backups/exportall": "gateway.tar.gz",
  "/v1/audio/speech": "speech.mp3"
}

export const curlOf = (operation: SkillOperation): string => {
  const saved = savedAs[operation.path]
  const parts = [
    `curl -sS${operation.method === "GET" || (operation.method === "POST" && operation.body !== null) ? "" : ` -X ${operation.method}`} ${addressOf(operation)}`,
    ...credentialOf(operation),
    ...bodyOf(operation),
    ...(saved === undefined ? [] : [`-o ${saved}`])
  ]
  return parts.join(" \\\n  ")
}
