/**
 * Requests to `/v1/chat/completions` and `/v1/responses` in forms that some clients mix, Cursor among them: tools and choices of tools in the form of
 * another wire, `tool_use` and `tool_result` blocks in chat messages, and a responses request sent to chat. They are put into the endpoint's own form
 * before anything else reads them, so that there is one reading of a request. Pure, linear.
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../contract/domain/Errors.ts"
import { codecs, translateRequest } from "./Codec.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, optional, stringOr } from "./json/Json.ts"
import { dataUrlOf } from "./canonical/DataUrl.ts"
import type { WireCodec } from "./WireCodec.ts"

export interface OwnForm {
  /** The same object where nothing had to be changed. */
  readonly body: JsonObject
  /** Members that the form has no place for. */
  readonly dropped: ReadonlyArray<string>
}

const isNamed = (tool: JsonObject): boolean => typeof tool["name"] === "string"

/** A tool as what all forms have in common; null where it is in none of them, or the provider's own. */
interface Plain {
  readonly kind: "function" | "custom"
  readonly spec: JsonObject
}

const plainOf = (tool: JsonObject): Plain | null => {
  const { cache_control: _mark, custom, function: nested, input_schema: schema, type, ...flat } = tool
  if (isObject(nested)) return { kind: "function", spec: nested }
  if (isObject(custom)) return { kind: "custom", spec: custom }
  if (!isNamed(tool) || (type !== undefined && type !== null && type !== "function" && type !== "custom")) return null
  if (isObject(schema)) return { kind: "function", spec: { ...flat, parameters: schema } }
  return { kind: type === "custom" ? "custom" : "function", spec: flat }
}

/** A grammar is in a member of its own on chat, and flat on responses. */
const nestedFormat = (format: JsonObject): JsonObject => {
  const { type, ...rest } = format
  return type === "grammar" && !isObject(format["grammar"]) ? { type, grammar: rest } : format
}

const flatFormat = (format: JsonObject): JsonObject => {
  const { grammar, ...rest } = format
  return isObject(grammar) ? { ...rest, ...grammar } : format
}

const withFormat = (spec: JsonObject, form: (format: JsonObject) => JsonObject): JsonObject => {
  const { format } = spec
  return isObject(format) ? { ...spec, format: form(format) } : spec
}

type FormTool = (tool: JsonObject) => JsonObject

const chatTool: FormTool = (tool) => {
  if (isObject(tool["function"]) || isObject(tool["custom"])) return tool
  const plain = plainOf(tool)
  if (plain === null) return tool
  const mark = optional("cache_control", tool["cache_control"])
  return plain.kind === "custom"
    ? { type: "custom", custom: withFormat(plain.spec, nestedFormat), ...mark }
    : { type: "function", function: plain.spec, ...mark }
}

const responsesTool: FormTool = (tool) => {
  const isFlat = (tool["type"] === "function" || tool["type"] === "custom") && isNamed(tool)
  if (isFlat && !isObject(tool["input_schema"]) && !isObject(tool["function"])) return tool
  const plain = plainOf(tool)
  if (plain === null) return tool
  return { type: plain.kind, ...(plain.kind === "custom" ? withFormat(plain.spec, flatFormat) : plain.spec) }
}

/** The choice in words that both forms share: a mode, or the name of a function; null where it is another one. */
const choiceOf = (choice: Json | undefined): { readonly mode: string } | { readonly name: string } | null => {
  if (!isObject(choice)) return null
  const name = stringOr(choice["name"]) ?? stringOr(objectOr(choice["function"])["name"])
  switch (choice["type"]) {
    case "any":
      return { mode: "required" }
    case "auto":
    case "none":
    case "required":
      return { mode: String(choice["type"]) }
    case "tool":
    case "function":
      return name === null ? null : { name }
    default:
      return null
  }
}

const chosen = (choice: Json | undefined, byName: (name: string) => JsonObject): Json | undefined => {
  const plain = choiceOf(choice)
  if (plain === null) return choice
  return "mode" in plain ? plain.mode : byName(plain.name)
}

const chatChoice = (choice: Json | undefined): Json | undefined =>
  isObject(choice) && isObject(choice["function"])
    ? choice
    : chosen(choice, (name) => ({ type: "function", function: { name } }))

const responsesChoice = (choice: Json | undefined): Json | undefined =>
  isObject(choice) && choice["type"] === "function" && isNamed(choice)
    ? choice
    : chosen(choice, (name) => ({ type: "function", name }))

/** The body with its tools in one form; the same object where they are in it. */
const withTools = (
  body: JsonObject,
  form: FormTool,
  formChoice: (choice: Json | undefined) => Json | undefined
): JsonObject => {
  const { tool_choice: choice, tools } = body
  if (!isArray(tools)) return body
  const formed = tools.map((tool) => (isObject(tool) ? form(tool) : tool))
  const own = formChoice(choice)
  if (own === choice && formed.every((tool, index) => tool === tools[index])) return body
  return { ...body, tools: formed, ...optional("tool_choice", own) }
}

const foreignBlocks: ReadonlySet<unknown> = new Set(["tool_use", "tool_result"])

const isForeign = (block: Json): boolean => isObject(block) && foreignBlocks.has(block["type"])

const hasForeign = (message: Json): boolean =>
  isObject(message) && isArray(message["content"]) && message["content"].some(isForeign)

/** A picture of the messages wire as one of chat. */
const chatPart = (block: Json): Json => {
  const { source, type } = objectOr(block)
  const { data, media_type: mediaType, url } = objectOr(source)
  if (type !== "image") return block
  const link = typeof data === "string" ? dataUrlOf(stringOr(mediaType) ?? "image/png", data) : stringOr(url)
  return link === null ? block : { type: "image_url", image_url: { url: link } }
}

const callOf = (block: JsonObject): JsonObject => ({
  id: block["id"],
  type: "function",
  function: { name: block["name"], arguments: JSON.stringify(block["input"] ?? {}) }
})

const resultOf = (block: JsonObject): JsonObject => {
  const { content, tool_use_id: id } = block
  return { role: "tool", tool_call_id: id, content: isArray(content) ? content.map(chatPart) : (content ?? "") }
}

/** A message with blocks of the messages wire, as the messages of chat that say the same: results come first. */
const chatMessages = (message: Json): ReadonlyArray<Json> => {
  if (!isObject(message) || !hasForeign(message)) return [message]
  const { content, tool_calls: calls, ...rest } = message
  const blocks = isArray(content) ? content.filter(isObject) : []
  const parts = blocks.filter((block) => !isForeign(block)).map(chatPart)
  const used = blocks.filter(({ type }) => type === "tool_use").map(callOf)
  const results = blocks.filter(({ type }) => type === "tool_result").map(resultOf)
  const spoken = parts.length > 0 || used.length > 0
  const own: JsonObject = {
    ...rest,
    content: parts.length === 0 ? null : parts,
    ...(used.length === 0 && calls === undefined ? {} : { tool_calls: [...(isArray(calls) ? calls : []), ...used] })
  }
  return spoken ? [...results, own] : results
}

const withMessages = (body: JsonObject): JsonObject => {
  const { messages } = body
  return isArray(messages) && messages.some(hasForeign) ? { ...body, messages: messages.flatMap(chatMessages) } : body
}

const isPresent = (value: Json | undefined): boolean => value !== undefined && value !== null

/** A responses request as one of chat. */
const fromResponses = (body: JsonObject): Either.Either<OwnForm, InvalidRequest> => {
  const { model, stream, stream_options: options } = body
  const asked = withTools(body, responsesTool, responsesChoice)
  const { stream_options: _options, ...rest } = asked
  return Either.map(
    translateRequest(codecs.responses, codecs.chat, rest, {
      model: stringOr(model) ?? "",
      stream: stream === true,
      maxOutputTokens: null,
      reasoning: null,
      openAiTools: true
    }),
    ({ body: { stream_options: _asked, ...own }, dropped }) => ({
      body: { ...own, ...optional("stream_options", options) },
      dropped
    })
  )
}

/** Hot: the request in its endpoint's own form. Left where it cannot be put into it. */
export const inOwnForm = (codec: WireCodec, body: JsonObject): Either.Either<OwnForm, InvalidRequest> => {
  if (codec === codecs.responses)
    return Either.right({ body: withTools(body, responsesTool, responsesChoice), dropped: [] })
  if (codec !== codecs.chat) return Either.right({ body, dropped: [] })
  if (!isPresent(body["messages"]) && isPresent(body["input"])) return fromResponses(body)
  return Either.right({ body: withTools(withMessages(body), chatTool, chatChoice), dropped: [] })
}
