/** A request as a program that makes it again. In place of its credential there is always `$GATEWAY_API_KEY`. Pure. */
import { maskRecord } from "../masking/MaskRecord.ts"
import { isSecretHeaderName, isSecretParameter } from "../masking/SecretNames.ts"
import type { TrafficRecord } from "../../../contract/domain/TrafficRecord.ts"

export const codeFormats = ["curl", "python", "typescript"] as const
export type CodeFormat = (typeof codeFormats)[number]

const placeholder = "$GATEWAY_API_KEY"

/** Headers that every client makes itself. */
const ownHeaders =
  /^(?:host|content-length|connection|keep-alive|transfer-encoding|te|trailer|upgrade|expect|proxy-.*|accept-encoding|cookie|x-forwarded-.*|forwarded|via)$/

/** Values of a credential in the headers that models are asked with. */
const credentials: Readonly<Record<string, string>> = {
  authorization: `Bearer ${placeholder}`,
  "x-api-key": placeholder,
  "api-key": placeholder,
  "x-goog-api-key": placeholder
}

interface Portable {
  readonly method: string
  readonly url: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  readonly body: string | null
  readonly isBase64: boolean
  readonly notes: ReadonlyArray<string>
}

const portable = (unmasked: TrafficRecord): Portable => {
  const record = maskRecord(unmasked)
  const [path = "/", query] = record.path.split("?", 2)
  let hasCredential = false
  const parameters = (query === undefined || query === "" ? [] : query.split("&")).map((pair) => {
    const name = pair.split("=", 1)[0] ?? ""
    if (!isSecretParameter(name)) return pair
    hasCredential = true
    return `${name}=${placeholder}`
  })
  const headers = Object.entries(record.requestHeaders).flatMap(([name, value]): ReadonlyArray<[string, string]> => {
    const credential = credentials[name]
    if (credential !== undefined) {
      hasCredential = true
      return [[name, credential]]
    }
    return ownHeaders.test(name) || isSecretHeaderName(name) || /[\r\n]/.test(value) ? [] : [[name, value]]
  })
  if (!hasCredential && record.detectedKind === "llm") headers.push(["authorization", `Bearer ${placeholder}`])
  return {
    method: record.method,
    url: `${record.scheme}://${record.host}${path}${parameters.length === 0 ? "" : `?${parameters.join("&")}`}`,
    headers,
    body: record.requestBody,
    isBase64: record.requestEncoding === "base64",
    notes: [
      ...(record.requestTruncated ? ["The body was longer than what was captured of it."] : []),
      ...(record.bodyEvicted ? ["The body is no longer kept."] : [])
    ]
  }
}

/** Quotes a word for a shell. In single quotes no character has a meaning; the key needs double ones. */
const shellWord = (text: string): string =>
  text.includes(placeholder)
    ? `"${text
        .split(placeholder)
        .map((part) => part.replaceAll(/["\\$`]/g, "\\$&"))
        .join(placeholder)}"`
    : `'${text.replaceAll("'", `'\\''`)}'`

const curl = ({ body, headers, isBase64, method, notes, url }: Portable): string => {
  const data = body === null ? [] : [isBase64 ? "--data-binary @-" : `--data-raw ${shellWord(body)}`]
  const lines = [
    `curl -X ${method} ${shellWord(url)}`,
    ...headers.map(([name, value]) => `-H ${shellWord(`${name}: ${value}`)}`),
    ...data
  ]
  const command = lines.join(" \\\n  ")
  const piped = isBase64 && body !== null ? `printf %s '${body}' | base64 -d | ${command}` : command
  return [...notes.map((note) => `# ${note}`), piped, ""].join("\n")
}

const quoted = (text: string): string => JSON.stringify(text)

const pythonText = (text: string): string =>
  text.includes(placeholder) ? `os.path.expandvars(${quoted(text)})` : quoted(text)

const python = ({ body, headers, isBase64, method, notes, url }: Portable): string =>
  [
    ...notes.map((note) => `# ${note}`),
    ...(isBase64 && body !== null ? ["import base64"] : []),
    "import os",
    "import requests",
    "",
    "response = requests.request(",
    `    ${quoted(method)},`,
    `    ${pythonText(url)},`,
    "    headers={",
    ...headers.map(([name, value]) => `        ${quoted(name)}: ${pythonText(value)},`),
    "    },",
    ...(body === null
      ? []
      : [`    data=${isBase64 ? `base64.b64decode(${quoted(body)})` : `${quoted(body)}.encode()`},`]),
    ")",
    "print(response.status_code)",
    "print(response.text)",
    ""
  ].join("\n")

/** Names of what the written program uses, not this one. */
const environment = ["process", "env"].join(".")
const call = "fetch"

const scriptText = (text: string): string => (text.includes(placeholder) ? `withKey(${quoted(text)})` : quoted(text))

const typescript = ({ body, headers, isBase64, method, notes, url }: Portable): string =>
  [
    ...notes.map((note) => `// ${note}`),
    `const withKey = (text: string) => text.replace(${quoted(placeholder)}, ${environment}.GATEWAY_API_KEY ?? "")`,
    "",
    `const response = await ${call}(${scriptText(url)}, {`,
    `  method: ${quoted(method)},`,
    "  headers: {",
    ...headers.map(([name, value]) => `    ${quoted(name)}: ${scriptText(value)},`),
    "  },",
    ...(body === null ? [] : [`  body: ${isBase64 ? `Buffer.from(${quoted(body)}, "base64")` : quoted(body)},`]),
    "})",
    "console.log(response.status, await response.text())",
    ""
  ].join("\n")

const writers: Readonly<Record<CodeFormat, (request: Portable) => string>> = { curl, python, typescript }

export const codeOf = (record: TrafficRecord, format: CodeFormat): string => writers[format](portable(record))
