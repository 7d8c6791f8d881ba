/** A call as a line for a shell: by the command line where it has a command for it, else by `gateway api`, and by curl. */
import { addressOf, gatewayUrl } from "../../api/client.ts"
import { commands } from "./commands.ts"

export interface ShownCall {
  readonly method: string
  /** Path, with `:name` for a member of the path. */
  readonly path: string
  readonly parts?: Readonly<Record<string, unknown>>
  readonly query?: Readonly<Record<string, unknown>>
  /** Undefined: none. */
  readonly body?: unknown
}

/** Quotes a word for a shell where it has to be. */
export const shellWord = (text: string): string =>
  /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`

const secretNames = /(?:^|[a-z])(?:key|password|secret|token|credential)s?$/i
const names = /(?:Id|Name|Prefix)$/

/** A body without secrets: they stand as their names, so that none gets into a clipboard. */
export const withoutSecrets = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutSecrets)
  if (value === null || typeof value !== "object") return value
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      typeof member === "string" && member !== "" && secretNames.test(name) && !names.test(name)
        ? `<${name}>`
        : withoutSecrets(member)
    ])
  )
}

/** JSON in which characters that hide or turn text around are escaped. */
const jsonOf = (value: unknown): string =>
  JSON.stringify(value).replaceAll(
    /[\u007f-\u009f\p{Bidi_Control}\u200b\ufeff]/gu,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

const given = (members: unknown): ReadonlyArray<readonly [string, unknown]> =>
  members !== null && typeof members === "object" && !Array.isArray(members)
    ? Object.entries(members).filter(([, value]) => value !== undefined && value !== "")
    : []

const isPlain = (value: unknown): value is string | number => typeof value === "string" || typeof value === "number"

/** The words of a member of a call behind a flag; null: no command says it. */
const flagWords = (flag: string, value: unknown, isList: boolean): ReadonlyArray<string> | null => {
  const values = Array.isArray(value) ? (isList ? value : [null]) : [value]
  if (value === true && flag !== "") return [flag]
  if (!values.every(isPlain)) return null
  const texts = values.map(String)
  if (flag === "") return texts.some((text) => text.startsWith("-")) ? null : texts.map(shellWord)
  return texts.flatMap((text) => (text.startsWith("-") ? [shellWord(`${flag}=${text}`)] : [flag, shellWord(text)]))
}

const ownCommand = (call: ShownCall): string | null => {
  const template = commands[`${call.method} ${call.path}`]
  if (template === undefined || (call.body !== undefined && given(call.body).length === 0)) return null
  const rest = new Map([...given(call.query), ...given(call.body)])
  const words: Array<string> = []
  for (const word of template.split(" ")) {
    const [flag = "", field] = word.split("=")
    if (field === undefined) {
      const part = word.startsWith(":") ? String(call.parts?.[word.slice(1)] ?? "") : word
      if (word.startsWith(":") && (part === "" || part.startsWith("-"))) return null
      words.push(word.startsWith(":") ? shellWord(part) : word)
      continue
    }
    const name = field.replace("*", "")
    if (!rest.has(name)) continue
    const said = flagWords(flag, rest.get(name), field.endsWith("*"))
    if (said === null) return null
    words.push(...said)
    rest.delete(name)
  }
  return rest.size === 0 ? `gateway ${words.join(" ")}` : null
}

/** Writes a call as a command. */
export const commandOf = (call: ShownCall): string => {
  const safe = { ...call, body: withoutSecrets(call.body) }
  const own = ownCommand(safe)
  if (own !== null) return own
  const path = `/${addressOf(call.path, { path: call.parts })}`
  const query = given(call.query).flatMap(([name, value]) => ["--query", shellWord(`${name}=${String(value)}`)])
  const data = safe.body === undefined ? [] : ["--data", shellWord(jsonOf(safe.body))]
  return ["gateway api", call.method, shellWord(path), ...query, ...data].join(" ")
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** Writes a call for curl. The key stands as a variable. */
export const curlOf = ({ body, method, parts, path, query }: ShownCall): string => {
  const url = new URL(addressOf(path, { path: parts, query }), gatewayUrl).href
  return [
    "curl",
    ...(method === "GET" ? [] : ["-X", method]),
    quoted(url),
    "-H",
    '"Authorization: Bearer $GATEWAY_API_KEY"',
    ...(body === undefined
      ? []
      : ["-H", quoted("Content-Type: application/json"), "-d", quoted(jsonOf(withoutSecrets(body)))])
  ].join(" ")
}
