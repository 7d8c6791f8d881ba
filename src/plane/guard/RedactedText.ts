/**
 * Texts as requests have them: many are JSON, and stay JSON. Strings in it are replaced as texts, a number that is a finding becomes a string, and
 * every other character stays. Names of members stay. Pure.
 */
import { isArray, isObject, type Json, parseJson } from "../../wire/json/Json.ts"
import { spliceValues, type ValueEdit } from "../../wire/json/DeepSplice.ts"
import { type DetectorOptions, findPersonalData, redact } from "./Detectors.ts"

export interface Redaction {
  readonly options: DetectorOptions
  /** Called for each finding. */
  readonly found: (detector: string) => void
}

/** JSON in a string of JSON in a string: beyond it a text is only text. */
const maxNested = 4
/** Deeper values are no text of a request. */
const maxDepth = 200

/** A number with fewer digits is nothing that is looked for. */
const leastDigits = 9

const inNumber = (value: number, { found, options }: Redaction): string | null => {
  if (!Number.isSafeInteger(value) || Math.abs(value) < 10 ** (leastDigits - 1)) return null
  const text = String(value)
  const { findings, text: replaced } = redact(text, options)
  for (const { detector } of findings) found(detector)
  return findings.length === 0 ? null : replaced
}

/** The value with everything in it replaced; the same value where nothing was found. */
export const redactValue = (value: Json, redaction: Redaction, nested = 0, depth = 0): Json => {
  if (typeof value === "string") return redactText(value, redaction, nested)
  if (typeof value === "number") return inNumber(value, redaction) ?? value
  if (depth > maxDepth) return value
  if (isArray(value)) {
    let copy: Array<Json> | null = null
    for (const [index, item] of value.entries()) {
      const next = redactValue(item, redaction, nested, depth + 1)
      if (next !== item) (copy ??= [...value])[index] = next
    }
    return copy ?? value
  }
  if (!isObject(value)) return value
  let copy: Record<string, Json | undefined> | null = null
  for (const [name, member] of Object.entries(value)) {
    if (member === undefined) continue
    const next = redactValue(member, redaction, nested, depth + 1)
    if (next !== member) (copy ??= { ...value })[name] = next
  }
  return copy ?? value
}

const editsOf = (value: Json, redaction: Redaction, nested: number): ReadonlyArray<ValueEdit> => {
  const edits: Array<ValueEdit> = []
  const walk = (each: Json | undefined, path: ReadonlyArray<string | number>): void => {
    if (each === undefined || path.length > maxDepth) return
    if (isArray(each)) each.forEach((item, index) => walk(item, [...path, index]))
    else if (isObject(each)) for (const [name, member] of Object.entries(each)) walk(member, [...path, name])
    else {
      const next = redactValue(each, redaction, nested)
      if (next !== each) edits.push({ path, json: JSON.stringify(next) })
    }
  }
  walk(value, [])
  return edits
}

const looksLikeJson = /^\s*[[{"]/

const isJson = (text: string): Json | undefined => {
  if (!looksLikeJson.test(text)) return undefined
  const value = parseJson(text)
  return typeof value === "object" && value !== null ? value : undefined
}

/**
 * Pattern of findings that their neighbours in JSON may hide: a text behind an escape such as `\\n`, whose letter
 * touches it, and a number between commas.
 */
const mayHide = /\\|\d{9}/

/** The text with placeholders; the same text where nothing was found. */
export const redactText = (text: string, redaction: Redaction, nested = 0): string => {
  const value = nested < maxNested && mayHide.test(text) ? isJson(text) : undefined
  if (value === undefined && findPersonalData(text, redaction.options).length === 0) return text
  const inJson = value ?? (nested < maxNested ? isJson(text) : undefined)
  if (inJson !== undefined) return spliceValues(text, editsOf(inJson, redaction, nested + 1))
  const { findings, text: replaced } = redact(text, redaction.options)
  for (const { detector } of findings) redaction.found(detector)
  return replaced
}
