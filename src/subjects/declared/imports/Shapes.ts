/** Members of foreign files that are of another kind than their program takes: what is misread is refused, not left out in silence. Pure. */
import { isArray, isObject, type Json } from "../../../wire/json/Json.ts"

export type Shape =
  | { readonly is: "text" | "number" | "anything" }
  /** Each entry. */
  | { readonly is: "list"; readonly of: Shape }
  /** Each value, under whatever name. */
  | { readonly is: "table"; readonly of: Shape }
  /** The named members; others are not looked at. */
  | { readonly is: "object"; readonly members: Readonly<Record<string, Shape>> }
  /** The first that fits; where none does, what the last says. */
  | { readonly is: "either"; readonly of: readonly [Shape, Shape] }

export const text: Shape = { is: "text" }
export const number: Shape = { is: "number" }
export const anything: Shape = { is: "anything" }
export const list = (of: Shape): Shape => ({ is: "list", of })
export const table = (of: Shape): Shape => ({ is: "table", of })
export const object = (members: Readonly<Record<string, Shape>>): Shape => ({ is: "object", members })
export const either = (...of: readonly [Shape, Shape]): Shape => ({ is: "either", of })

/** Most problems that are reported; the first ones are enough to mend a file. */
const mostProblems = 20

/** Null and what is absent are no problem. Each is a place with what is wrong: `model_list: must be a list`. */
export const shapeProblems = (value: Json, shape: Shape): ReadonlyArray<string> => {
  const found: Array<string> = []
  const say = (path: string, what: string): void => {
    if (found.length < mostProblems) found.push(`${path === "" ? "The file" : `${path}:`} must be ${what}`)
  }
  const at = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`)
  const fits = (each: Json, of: Shape): boolean => shapeProblems(each, of).length === 0
  const walk = (each: Json | undefined, of: Shape, path: string): void => {
    if (each === null || each === undefined || found.length >= mostProblems) return
    switch (of.is) {
      case "anything":
        return
      case "text":
        if (typeof each !== "string") say(path, "a text")
        return
      case "number":
        if (
          typeof each !== "number" &&
          !(typeof each === "string" && each.trim() !== "" && Number.isFinite(Number(each)))
        ) {
          say(path, "a number")
        }
        return
      case "list":
        if (!isArray(each)) return say(path, "a list")
        for (const [index, entry] of each.entries()) walk(entry, of.of, at(path, String(index)))
        return
      case "table":
        if (!isObject(each)) return say(path, "an object")
        for (const [name, member] of Object.entries(each)) walk(member, of.of, at(path, name))
        return
      case "object":
        if (!isObject(each)) return say(path, "an object")
        for (const [name, member] of Object.entries(of.members)) walk(each[name], member, at(path, name))
        return
      case "either":
        if (!fits(each, of.of[0])) walk(each, of.of[1], path)
    }
  }
  walk(value, shape, "")
  return found
}

const fallbacks = list(table(list(text)))
const routing = object({
  fallbacks,
  context_window_fallbacks: fallbacks,
  routing_strategy: text,
  model_group_alias: table(either(text, object({ model: text })))
})

/** https://docs.litellm.ai/docs/proxy/config_settings */
export const litellmShape: Shape = object({
  model_list: list(
    object({
      model_name: text,
      litellm_params: object({
        model: text,
        api_base: text,
        base_url: text,
        api_key: text,
        weight: number,
        rpm: number,
        tpm: number
      }),
      model_info: table(anything)
    })
  ),
  router_settings: routing,
  litellm_settings: routing,
  general_settings: table(anything)
})

/** Records of OmniRoute's database or export, by `OmniRouteRecords`. */
export const omniRouteShape = (records: ReadonlyArray<string>, tables: ReadonlyArray<string>): Shape =>
  object({
    ...Object.fromEntries(records.map((name) => [name, list(table(anything))])),
    ...Object.fromEntries(tables.map((name) => [name, table(anything)]))
  })
