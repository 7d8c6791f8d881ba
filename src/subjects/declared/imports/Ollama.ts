/** A server of Ollama as a declared document. Pure. https://docs.ollama.com/api/tags */
import { isArray, objectOr, parseJson, stringOr } from "../../../wire/json/Json.ts"
import { escaped } from "../Variables.ts"
import { changed, type Imported, leftOut, type Row, taken } from "./Imported.ts"

const port = 11_434
export const usualAddress = `http://127.0.0.1:${port}`

/** Most models that are reported one by one. */
const mostModels = 200
const maxNameChars = 200

/**
 * The address that `OLLAMA_HOST` stands for: a host, with a port or not, or an address. Where the server listens on every address, clients ask
 * this machine. Null: it is none. https://docs.ollama.com/faq
 */
export const addressOfHost = (text: string): string | null => {
  const given = text.trim()
  const whole = /^https?:\/\//i.test(given) ? given : `http://${given}`
  if (given === "" || !URL.canParse(whole)) return null
  const { hash, hostname, password, pathname, port: at, protocol, search, username } = new URL(whole)
  if (hostname === "" || `${username}${password}${search}${hash}` !== "") return null
  const host = hostname === "0.0.0.0" ? "127.0.0.1" : hostname === "[::]" ? "[::1]" : hostname
  // An address without a port means the one of its protocol, a host without one means Ollama's.
  const isAddress = whole === given
  const own = at === "" ? (isAddress ? "" : `:${port}`) : `:${at}`
  return `${protocol}//${host}${own}${pathname.replace(/\/+$/, "")}`
}

/** `answer`: what `GET /api/tags` answered; null: it is no answer of Ollama. */
export const readOllama = (answer: string, baseUrl: string): Imported | null => {
  const { models } = objectOr(parseJson(answer))
  if (!isArray(models)) return null
  const names = models.flatMap((model) => stringOr(objectOr(model)["name"])?.slice(0, maxNameChars) ?? [])
  const told: ReadonlyArray<Row> = names.slice(0, mostModels).map((name) => taken(`ollama/${name}`))
  const rest = names.length - told.length
  return {
    document: {
      version: 1,
      connections: [
        { provider: "ollama", name: "imported", ...(baseUrl === usualAddress ? {} : { baseUrl: escaped(baseUrl) }) }
      ]
    },
    rows: [
      baseUrl === usualAddress ? taken(baseUrl) : changed(baseUrl, "The gateway asks it at this address."),
      ...told,
      ...(rest > 0 ? [taken(`${rest} more models`)] : []),
      ...(names.length === 0 ? [leftOut("models", "It has none yet: 'ollama pull <model>' loads one.")] : [])
    ]
  }
}
