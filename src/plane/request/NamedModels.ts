/**
 * Removes the names of models outside of `model` from a request: fallback lists, other spellings of the key, settings of plugins. A key
 * that may use some models only is judged by `model`; some upstreams read the others. Pure.
 */
import { isArray, isObject, type Json, type JsonObject } from "../../wire/json/Json.ts"

/** A key as a lenient upstream reads it. */
const plain = (key: string): string => key.toLowerCase().replaceAll(/[^a-z\d]/g, "")

/** Fields of aggregators and proxies that choose a model by another word. https://openrouter.ai/docs/features/model-routing */
const otherWords = new Set(["route", "routing", "engine", "deployment", "deploymentid", "preset"])

const namesModel = (key: string): boolean => {
  const word = plain(key)
  return word.includes("model") || word.includes("fallback") || otherWords.has(word)
}

/** Top-level fields whose own settings may name models, at any depth. What is said to a model is never looked into. */
const holders = new Set(
  ["plugins", "provider", "extrabody", "router", "config", "options", "providerOptions"].map(plain)
)

/** The depth of a request is bounded before. */
const holdsModel = (value: Json | undefined): boolean => {
  if (isArray(value)) return value.some(holdsModel)
  if (!isObject(value)) return false
  return Object.entries(value).some(([key, inner]) => namesModel(key) || holdsModel(inner))
}

/** A tool without the model it would be run by; its parameters are not looked into. */
const withoutModel = (tool: Json): Json => {
  if (!isObject(tool) || !Object.keys(tool).some(namesModel)) return tool
  return Object.fromEntries(Object.entries(tool).filter(([key]) => !namesModel(key)))
}

const sameItems = (left: ReadonlyArray<Json>, right: ReadonlyArray<Json>): boolean =>
  left.every((item, index) => item === right[index])

export interface OneModel {
  readonly body: JsonObject
  /** Names of the members left out, for `X-Gateway-Dropped`. */
  readonly dropped: ReadonlyArray<string>
}

/**
 * The body with `model` as its only word about models; without that where the path names the model. The same object when nothing had to go.
 */
export const withOneModel = (body: JsonObject, modelInPath = false): OneModel => {
  const dropped: Array<string> = []
  const kept: Record<string, Json | undefined> = {}
  for (const [key, value] of Object.entries(body)) {
    if (key === "model" && !modelInPath) kept[key] = value
    else if (namesModel(key) || (holders.has(plain(key)) && holdsModel(value))) dropped.push(key)
    else if (plain(key) === "tools" && isArray(value)) {
      const tools = value.map(withoutModel)
      kept[key] = sameItems(tools, value) ? value : tools
      if (kept[key] !== value) dropped.push(`${key}.model`)
    } else kept[key] = value
  }
  return dropped.length === 0 ? { body, dropped } : { body: kept, dropped }
}

/** Checks whether the key may be there more than once, or with escapes: parsers differ on which one counts. */
export const mayRepeatModel = (raw: Buffer): boolean => {
  const name = '"model"'
  const first = raw.indexOf(name)
  return raw.includes("\\u") || (first >= 0 && raw.includes(name, first + name.length))
}
