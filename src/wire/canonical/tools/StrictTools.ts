/**
 * OpenAI's `strict` requires more of a tool than that of other wires: every property required, every object closed
 * (https://developers.openai.com/api/docs/guides/structured-outputs).
 */
import { isArray, isObject, type JsonObject } from "../../json/Json.ts"
import { isOfObjects, mapSchema } from "../../json/SchemaWalk.ts"
import type { Conversation, FunctionTool } from "../Conversation.ts"
import type { DropLog } from "../DropLog.ts"

const isClosed = ({ additionalProperties, properties, required }: JsonObject): boolean => {
  const names = isObject(properties) ? Object.keys(properties) : []
  const needed = new Set(isArray(required) ? required : [])
  return additionalProperties === false && names.every((name) => needed.has(name))
}

/** Checks whether OpenAI accepts a schema as strict. */
export const fitsStrict = (schema: JsonObject | undefined): boolean => {
  let fits = schema !== undefined
  if (schema !== undefined) {
    mapSchema(schema, (each) => {
      if (isOfObjects(each) && !isClosed(each)) fits = false
      return each
    })
  }
  return fits
}

/** `strict` for an upstream of OpenAI's wires; undefined when the client did not set it. */
export const strictFor = ({ wire }: Conversation, tool: FunctionTool, log: DropLog): boolean | undefined => {
  if (tool.strict !== true || wire === "chat" || wire === "responses" || fitsStrict(tool.schema)) return tool.strict
  log.drop("toolStrict")
  return false
}
