/** Free-form (`custom`) tools on wires that have JSON tools only: one string member holds the whole input. */
import { isObject, type JsonObject, stringOr } from "../../json/Json.ts"
import type { CustomTool, FunctionTool } from "../Conversation.ts"
import { argsObject } from "./ToolArgs.ts"

const member = "input"

const describe = (format: JsonObject | undefined): string => {
  const whole = "The whole input of the tool, as plain text."
  const grammar = format?.["grammar"]
  if (!isObject(grammar)) return whole
  const syntax = stringOr(grammar["syntax"]) ?? "given"
  const definition = stringOr(grammar["definition"]) ?? ""
  return definition === "" ? whole : `${whole} It must follow this ${syntax} grammar:\n${definition}`
}

/** The JSON tool that replaces a free-form one. A grammar cannot be enforced there, so it is put into the description. */
export const asFunctionTool = (tool: CustomTool): FunctionTool => {
  const { format, type: _type, ...rest } = tool
  return {
    ...rest,
    type: "function",
    schema: {
      type: "object",
      properties: { [member]: { type: "string", description: describe(format) } },
      required: [member]
    }
  }
}

/** Free text as the arguments of such a tool. */
export const wrapInput = (input: string): string => JSON.stringify({ [member]: input })

/** The free text of a call: the one string member of its arguments, or all of them when the model wrote something else. */
export const unwrapInput = (args: string): string => {
  const [only, ...others] = Object.values(argsObject(args) ?? {})
  return others.length === 0 && typeof only === "string" ? only : args
}
