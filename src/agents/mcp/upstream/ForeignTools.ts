/** Reads a registered server's lists of tools and answers to calls, within limits. Pure. */
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../../../wire/json/Json.ts"
import { toolSeparator } from "../../../subjects/mcpServers/entity.ts"
import type { ToolEffect, ToolOutput } from "../Tool.ts"

export interface ForeignTool {
  /** Name by which the server calls it. */
  readonly name: string
  readonly title: string
  readonly description: string
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject | null
  readonly effect: ToolEffect
  readonly isIdempotent: boolean
  readonly isOpenWorld: boolean
  /** Members that are passed on as they are. */
  readonly passed: JsonObject
}

/** Most tools that are taken of a server. */
export const mostTools = 256
const mostDescriptionChars = 16_384
const mostTitleChars = 300
/** Most characters of the JSON texts of its schemas and of each passed on part. */
const mostSchemaChars = 65_536

/** https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names */
const toolName = /^[\w./-]{1,128}$/

const objectSchema = (value: Json | undefined): JsonObject | null =>
  isObject(value) && (value["type"] === undefined || value["type"] === "object") ? value : null

/** Decides the effect that readers of the protocol assume of a tool without hints: it may destroy. */
const effectOf = ({ destructiveHint, readOnlyHint }: JsonObject): ToolEffect =>
  readOnlyHint === true ? "read" : destructiveHint === false ? "write" : "destroy"

const passedOn = ["annotations", "icons", "_meta"]

/** Null: it cannot be offered, because a part of it is missing or exceeds a limit, or it can be run as a task only. */
export const readTool = (value: Json): ForeignTool | null => {
  if (!isObject(value)) return null
  const name = stringOr(value["name"])
  const inputSchema = objectSchema(value["inputSchema"])
  if (name === null || !toolName.test(name) || inputSchema === null) return null
  if (objectOr(value["execution"])["taskSupport"] === "required") return null
  const annotations = objectOr(value["annotations"])
  const title = stringOr(value["title"]) ?? stringOr(annotations["title"]) ?? name
  const outputSchema = isObject(value["outputSchema"]) ? value["outputSchema"] : null
  const passed = Object.fromEntries(
    passedOn.flatMap((key) => (isObject(value[key]) || isArray(value[key]) ? [[key, value[key]]] : []))
  )
  if ([inputSchema, outputSchema, passed].some((part) => JSON.stringify(part).length > mostSchemaChars)) return null
  return {
    name,
    title: title.slice(0, mostTitleChars),
    description: (stringOr(value["description"]) ?? "").slice(0, mostDescriptionChars),
    inputSchema: { type: "object", ...inputSchema },
    outputSchema,
    effect: effectOf(annotations),
    isIdempotent: annotations["idempotentHint"] === true,
    isOpenWorld: annotations["openWorldHint"] !== false,
    passed
  }
}

/** The first tools of a page of the list, of those that are allowed; null: it is none. */
export const readPage = (
  result: JsonObject,
  allows: (name: string) => boolean
): { readonly tools: ReadonlyArray<ForeignTool>; readonly nextCursor: string | null } | null => {
  const { tools: listed } = result
  if (!isArray(listed)) return null
  const tools: Array<ForeignTool> = []
  for (const value of listed) {
    if (tools.length >= mostTools) break
    const name = isObject(value) ? stringOr(value["name"]) : null
    if (name === null || !allows(name)) continue
    const tool = readTool(value)
    if (tool !== null) tools.push(tool)
  }
  return { tools, nextCursor: stringOr(result["nextCursor"]) }
}

/** The name under which a tool is offered. */
export const offeredName = (server: string, tool: string): string => `${server}${toolSeparator}${tool}`

/** The server and the tool that an offered name means; null: it is no such name. */
export const partsOf = (name: string): { readonly server: string; readonly tool: string } | null => {
  const at = name.indexOf(toolSeparator)
  return at <= 0 ? null : { server: name.slice(0, at), tool: name.slice(at + toolSeparator.length) }
}

const firstText = (content: ReadonlyArray<JsonObject>): string => {
  const text = content.find((block) => block["type"] === "text")
  return stringOr(text?.["text"]) ?? ""
}

/** The result of a call, with the members that clients know, passed on as they are; null: it is none. */
export const readResult = (result: JsonObject): ToolOutput | null => {
  const { _meta: meta, content, isError, structuredContent } = result
  if (!isArray(content) && !isObject(structuredContent)) return null
  const blocks = isArray(content) ? content.filter(isObject) : []
  return {
    structured: isObject(structuredContent) ? structuredContent : null,
    content: blocks,
    error: isError === true ? firstText(blocks) : null,
    passed: {
      content: blocks,
      ...(isObject(structuredContent) ? { structuredContent } : {}),
      ...(isObject(meta) ? { _meta: meta } : {}),
      isError: isError === true
    }
  }
}
