/**
 * Texts of the items that only the responses wire has: the work of its servers' tools, and their results.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import { mediaOfUrl } from "../canonical/DataUrl.ts"
import type { OpaquePart } from "../canonical/Conversation.ts"
import {
  callAsText,
  plainText,
  type PlainPart,
  type Saying,
  textOfLines,
  textsIn,
  unknownBlock
} from "../canonical/ForeignContent.ts"
import { isArray, type Json, type JsonObject, objectOr, stringOr } from "../json/Json.ts"
import { pictureOf } from "./Pictures.ts"

/** Types of items about tools, not of the conversation. */
const hints: ReadonlySet<string> = new Set(["mcp_list_tools", "tool_search_call", "tool_search_output"])

const listOf = (value: Json | undefined): ReadonlyArray<JsonObject> => (isArray(value) ? value.map(objectOr) : [])

const ofSearch = ({ action }: JsonObject): Saying => {
  const { queries, query, sources, type, url } = objectOr(action)
  const asked = isArray(queries) ? queries : [query ?? null]
  const found = listOf(sources).map((source) => source["url"])
  const words = [...asked.map((item) => stringOr(item) ?? undefined), stringOr(url) ?? undefined]
  return textOfLines(`[web_search] ${stringOr(type) ?? ""}`.trim(), ...words, ...found)
}

const ofFiles = ({ queries, results }: JsonObject): Saying => [
  plainText(callAsText("file_search", { queries: queries ?? [] })),
  ...listOf(results).flatMap((result) => textOfLines(result["filename"], result["text"]))
]

const ofCode = ({ code, outputs }: JsonObject): Saying => [
  ...textOfLines("[code_interpreter]", code),
  ...listOf(outputs).flatMap((output): ReadonlyArray<PlainPart> => {
    const url = stringOr(output["url"])
    if (output["type"] === "image" && url !== null) return [{ type: "image", source: mediaOfUrl(url) }]
    return textOfLines(output["logs"])
  })
]

const ofMcp = ({ arguments: args, error, name, output, server_label: server }: JsonObject): Saying => [
  plainText(callAsText([server, name].filter(Boolean).join("/"), args)),
  ...textOfLines(output, typeof error === "string" ? `error: ${error}` : undefined)
]

/** A screen after an action on it. */
const ofScreen = ({ output }: JsonObject): Saying => {
  const { image_url: url } = objectOr(output)
  return typeof url === "string" ? [{ type: "image", source: mediaOfUrl(url) }] : null
}

/** Text that a shell has written: one, or one of each command. */
const ofShell = ({ output }: JsonObject): Saying =>
  typeof output === "string"
    ? textOfLines(output)
    : textOfLines(...listOf(output).flatMap(({ stderr, stdout }) => [stdout, stderr]))

const ofPicture = (item: JsonObject): Saying => {
  const { picture } = pictureOf(item)
  if (picture === undefined) return "hint"
  return [...textOfLines(item["revised_prompt"]), { type: "image", source: picture }]
}

export const itemTexts = ({ kind, value }: OpaquePart): Saying => {
  if (hints.has(kind)) return "hint"
  switch (kind) {
    case "web_search_call":
      return ofSearch(value)
    case "file_search_call":
      return ofFiles(value)
    case "code_interpreter_call":
      return ofCode(value)
    case "mcp_call":
      return ofMcp(value)
    case "mcp_approval_request":
      return [plainText(callAsText(`approval of ${stringOr(value["name"]) ?? "a call"}`, value["arguments"]))]
    case "mcp_approval_response":
      return textOfLines(value["approve"] === true ? "approved" : "not approved", value["reason"])
    case "image_generation_call":
      return ofPicture(value)
    case "computer_call":
    case "local_shell_call":
    case "shell_call":
      return [plainText(callAsText(kind, value["action"]))]
    case "computer_call_output":
      return ofScreen(value)
    case "local_shell_call_output":
    case "shell_call_output":
      return ofShell(value)
    case "apply_patch_call":
      return [plainText(callAsText(kind, value["operation"]))]
    case "apply_patch_call_output":
      return textOfLines(value["status"], ...textsIn(value["output"]))
    default:
      return unknownBlock(value)
  }
}
