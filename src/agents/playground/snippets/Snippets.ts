/**
 * Programs that make a request again: with curl, in Python (`requests`) and in TypeScript (OpenAI's SDK where it has the call, else `fetch`). In
 * place of the key there is always `$GATEWAY_API_KEY`: the variable of that name is read, and who puts a key in its place has a program that
 * runs as well. Pure.
 */
import type { Json } from "../../../wire/json/Json.ts"
import { jsonLiteral, pythonLiteral, quoted, scriptLiteral, shellWord } from "./Literals.ts"
import { requestOf, type Snippet, type SnippetRequest } from "./SnippetRequest.ts"

export interface Snippets {
  readonly curl: string
  readonly python: string
  readonly typescript: string
  /** Names of given values that the endpoint does not take. */
  readonly omitted: ReadonlyArray<string>
}

/** The variable, and what stands in for the key. */
const variable = "GATEWAY_API_KEY"
const placeholder = `$${variable}`

const lines = (...parts: ReadonlyArray<string | ReadonlyArray<string>>): string => `${parts.flat().join("\n")}\n`

const fieldText = (value: Json | undefined): string => (typeof value === "string" ? value : JSON.stringify(value))

const fieldsOf = ({ body }: SnippetRequest): ReadonlyArray<readonly [string, string]> =>
  Object.entries(body).map(([name, value]) => [name, fieldText(value)])

/** Linux starts no program with a longer argument than 128 KiB; what a shell writes itself has no limit. */
const argumentBytes = 120_000
const isLong = (text: string): boolean => Buffer.byteLength(text) > argumentBytes
const piped = (text: string): string => `printf '%s' ${shellWord(text)} |`

interface Sent {
  readonly words: ReadonlyArray<string>
  /** Text written to curl's input; null: none. */
  readonly input: string | null
}

const sentJson = ({ body }: SnippetRequest): Sent => {
  const text = jsonLiteral(body)
  const data = isLong(text) ? "--data-binary @-" : `--data-raw ${shellWord(text)}`
  return { words: [`-H 'Content-Type: application/json'`, data], input: isLong(text) ? text : null }
}

const sentForm = (request: SnippetRequest, file: string): Sent => {
  const fields = fieldsOf(request)
  const [long, input] = fields.find(([, value]) => isLong(value)) ?? [null, null]
  // The values are texts, whatever they begin with.
  const words = fields.map(([name, value]) =>
    name === long ? `-F ${shellWord(`${name}=<-`)}` : `--form-string ${shellWord(`${name}=${value}`)}`
  )
  return { words: [`-F ${shellWord(`file=@${file}`)}`, ...words], input }
}

const curlOf = (url: string, request: SnippetRequest): string => {
  const { file, savedAs } = request
  const { input, words } = file === null ? sentJson(request) : sentForm(request, file)
  const saved = savedAs === null ? [] : [`--output ${shellWord(savedAs)}`]
  const command = [`curl ${shellWord(url)}`, `-H "Authorization: Bearer ${placeholder}"`, ...words, ...saved]
  return lines(input === null ? [] : piped(input), command.join(" \\\n  "))
}

const pythonPath = (path: ReadonlyArray<string | number>): string =>
  path.map((step) => `[${typeof step === "string" ? quoted(step) : step}]`).join("")

const pythonOf = (url: string, request: SnippetRequest): string => {
  const { body, file, savedAs, textAt } = request
  const indent = "    "
  const sent =
    file === null
      ? [`${indent}json=${pythonLiteral(body, indent)},`]
      : [
          `${indent}files={"file": open(${quoted(file)}, "rb")},`,
          `${indent}data=${pythonLiteral(Object.fromEntries(fieldsOf(request)), indent)},`
        ]
  return lines(
    "import os",
    "",
    "import requests",
    "",
    `api_key = os.path.expandvars("${placeholder}")`,
    "response = requests.post(",
    `${indent}${quoted(url)},`,
    `${indent}headers={"Authorization": f"Bearer {api_key}"},`,
    sent,
    ")",
    "response.raise_for_status()",
    savedAs === null
      ? `print(response.json()${textAt === null ? "" : pythonPath(textAt)})`
      : [`with open(${quoted(savedAs)}, "wb") as file:`, `${indent}file.write(response.content)`]
  )
}

/** Names of what the written program uses, not this one. */
const environment = ["process", "env"].join(".")
const call = "fetch"

const key = `const apiKey = ${environment}.${variable} ?? "${placeholder}"`

const sdkOf = (base: string, { body, file, savedAs, sdk }: SnippetRequest): string => {
  const { method, shown } = sdk ?? { method: "", shown: "" }
  const files = [...(file === null ? [] : ["createReadStream"]), ...(savedAs === null ? [] : ["writeFileSync"])]
  const literal = scriptLiteral(body)
  const argument = file === null ? literal : `{\n  file: createReadStream(${quoted(file)}),${literal.slice(1)}`
  return lines(
    files.length === 0 ? [] : [`import { ${files.join(", ")} } from "node:fs"`],
    `import OpenAI from "openai"`,
    "",
    key,
    `const client = new OpenAI({ apiKey, baseURL: ${quoted(`${base}/v1`)} })`,
    "",
    `const response = await client.${method}(${argument})`,
    savedAs === null
      ? `console.log(${shown})`
      : `writeFileSync(${quoted(savedAs)}, Buffer.from(await response.arrayBuffer()))`
  )
}

const fetchOf = (url: string, { body }: SnippetRequest): string =>
  lines(
    key,
    `const response = await ${call}(${quoted(url)}, {`,
    `  method: "POST",`,
    "  headers: {",
    "    Authorization: `Bearer ${apiKey}`,",
    `    "Content-Type": "application/json"`,
    "  },",
    `  body: JSON.stringify(${scriptLiteral(body, "  ")})`,
    "})",
    "console.log(response.status, await response.json())"
  )

/** `base`: the address of the gateway, without a slash at its end. */
export const snippetsOf = (base: string, snippet: Snippet): Snippets => {
  const request = requestOf(snippet)
  const url = base + request.path
  return {
    curl: curlOf(url, request),
    python: pythonOf(url, request),
    typescript: request.sdk === null ? fetchOf(url, request) : sdkOf(base, request),
    omitted: request.omitted
  }
}
