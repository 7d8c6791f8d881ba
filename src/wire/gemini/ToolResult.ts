/**
 * Results of tools: an object on this wire, a text canonically.
 *
 * https://ai.google.dev/gemini-api/docs/function-calling
 */
import { argsObject } from "../canonical/tools/ToolArgs.ts"
import type { JsonObject } from "../json/Json.ts"

/** Keys under which clients wrap a text in an object. */
const textKeys = ["output", "result", "content", "error"] as const

export interface ResultText {
  readonly text: string
  readonly isError: boolean
}

/** The text of an object that only wraps one, else the object's JSON. `name`: the function, which some clients repeat as the key. */
export const readResult = (response: JsonObject, name: string): ResultText => {
  const keys = Object.keys(response).filter((key) => key !== "name" || response[key] !== name)
  const key = keys.length === 1 ? textKeys.find((word) => word === keys[0]) : undefined
  const text = key === undefined ? undefined : response[key]
  if (typeof text === "string") return { text, isError: key === "error" }
  return { text: JSON.stringify(response), isError: false }
}

/** `own`: the client speaks this wire, so a text that was an object becomes that object again. */
export const writeResult = ({ isError, text }: ResultText, name: string, own: boolean): JsonObject => {
  if (isError) return { error: text }
  const object = own && text.startsWith("{") ? argsObject(text) : null
  return object !== null && readResult(object, name).text === text ? object : { output: text }
}
