/** Shared readers of the wires: lists of tools, contents that are a text or a list, pictures. Pure. */
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../../../../wire/json/Json.ts"
import type { Place, PromptParts } from "../Prompt.ts"

export const addTools = (parts: PromptParts, tools: Json | undefined, path = "tools"): void => {
  if (isArray(tools)) tools.forEach((tool, at) => parts.add(tool, { kind: "tools", path: `${path}[${at}]` }))
}

/** Adds a content that is a text or a list of blocks. */
export const addContent = (
  parts: PromptParts,
  content: Json | undefined,
  place: Place,
  isReasoning: (block: Json) => boolean = () => false
): void => {
  if (typeof content === "string") {
    if (content !== "") parts.addText(content, place)
  } else if (isArray(content)) {
    content.forEach((block, at) => {
      if (isReasoning(block)) parts.addReasoning(block)
      else parts.add(block, { ...place, path: `${place.path}[${at}]` })
    })
  } else if (content !== undefined && content !== null) parts.add(content, place)
}

/** The members that are not in `known`; null when there is none of a value. */
export const restOf = (value: JsonObject, known: ReadonlySet<string>): JsonObject | null => {
  const rest = Object.entries(value).filter(
    ([key, member]) => !known.has(key) && member !== undefined && member !== null
  )
  return rest.length === 0 ? null : Object.fromEntries(rest)
}

const isSystemRole = (role: string): boolean => role === "system" || role === "developer"

/** Messages at the beginning with the role of the system belong to the system prompt. */
export const leadingSystem = (messages: ReadonlyArray<Json>): number => {
  const first = messages.findIndex((message) => !isObject(message) || !isSystemRole(stringOr(message["role"]) ?? ""))
  return first < 0 ? messages.length : first
}

const typesOfPictures: ReadonlySet<string> = new Set(["image", "image_url", "input_image"])

const isPicture = (block: Json): boolean => isObject(block) && typesOfPictures.has(stringOr(block["type"]) ?? "")

/** Checks whether a content holds a picture, results of tools included. */
export const holdsPicture = (content: Json | undefined): boolean =>
  isArray(content) &&
  content.some(
    (block) => isPicture(block) || (isObject(block) && isArray(block["content"]) && holdsPicture(block["content"]))
  )
