/**
 * The response object. Clients expect every member: the settings of the request are repeated, with the wire's defaults for what the
 * client left out.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import type { Stop } from "../canonical/Response.ts"
import type { Usage } from "../canonical/Usage.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr } from "../json/Json.ts"
import type { EncodeContext } from "../WireCodec.ts"
import { incompleteReasons } from "./Stop.ts"
import { encodeUsage } from "./Usage.ts"

const defaults: JsonObject = {
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  parallel_tool_calls: true,
  presence_penalty: 0,
  frequency_penalty: 0,
  previous_response_id: null,
  prompt_cache_key: null,
  safety_identifier: null,
  service_tier: "default",
  temperature: 1,
  tool_choice: "auto",
  top_logprobs: 0,
  top_p: 1,
  truncation: "disabled",
  user: null,
  metadata: {}
}

const toolDefaults: JsonObject = { description: null, parameters: null, strict: null }

const completeTool = (tool: Json): Json =>
  isObject(tool) && tool["type"] === "function" ? { ...toolDefaults, ...tool } : tool

const formatDefaults: JsonObject = { name: "answer", description: null, schema: null, strict: false }

const completeText = (text: JsonObject): JsonObject => {
  const format = isObject(text["format"]) ? text["format"] : { type: "text" }
  return { ...text, format: format["type"] === "json_schema" ? { ...formatDefaults, ...format } : format }
}

const settingsOf = (request: JsonObject): JsonObject => {
  const settings: Record<string, Json | undefined> = {}
  for (const key of Object.keys(defaults)) settings[key] = request[key] ?? defaults[key]
  const tools = isArray(request["tools"]) ? request["tools"] : []
  return {
    ...settings,
    tools: tools.map(completeTool),
    reasoning: { effort: null, summary: null, ...objectOr(request["reasoning"]) },
    text: completeText(objectOr(request["text"])),
    // The gateway neither stores answers for retrieval nor runs them in the background.
    store: false,
    background: false
  }
}

/** Members common to all response objects of one answer. */
export const responseHead = (
  answer: { readonly id: string | null; readonly model: string | null; readonly createdMs: number | null },
  context: EncodeContext
): JsonObject => ({
  id: answer.id ?? context.fallbackId,
  object: "response",
  created_at: Math.floor((answer.createdMs ?? context.nowMs) / 1000),
  model: answer.model ?? context.model,
  error: null,
  ...settingsOf(context.request ?? {})
})

/** The object in the events of a running stream. */
export const unfinished = (head: JsonObject): JsonObject => ({
  ...head,
  status: "in_progress",
  completed_at: null,
  incomplete_details: null,
  output: [],
  usage: null
})

/** The object at its end. `incomplete` where the answer was cut short by a limit or a filter. */
export const finished = (
  head: JsonObject,
  output: ReadonlyArray<JsonObject>,
  stop: Stop | null,
  usage: Usage | null,
  completedMs: number | null
): JsonObject & { readonly status: "completed" | "incomplete" } => {
  const reason = incompleteReasons[stop?.reason ?? "other"]
  return {
    ...head,
    status: reason === null ? "completed" : "incomplete",
    completed_at: reason === null && completedMs !== null ? Math.floor(completedMs / 1000) : null,
    incomplete_details: reason === null ? null : { reason },
    output,
    usage: encodeUsage(usage)
  }
}

/**
 * Checks whether the client is Codex, which names itself in `client_metadata`. It takes `response.incomplete` for a lost
 * connection and retries: https://github.com/openai/codex/blob/main/codex-rs/codex-api/src/sse/responses.rs
 */
export const isCodex = (request: JsonObject | undefined): boolean =>
  Object.keys(objectOr(request?.["client_metadata"])).some((name) => name.startsWith("x-codex-"))

/** A prompt that was refused before the model answered. Clients do not retry on `invalid_prompt`. */
export const refused = (
  head: JsonObject,
  output: ReadonlyArray<JsonObject>,
  stop: Stop,
  usage: Usage | null
): JsonObject & { readonly status: "failed" } => ({
  ...head,
  status: "failed",
  completed_at: null,
  incomplete_details: null,
  error: {
    code: "invalid_prompt",
    message: `The prompt was refused by the provider's content filter (${stop.raw}). Change the prompt: sent again it will be refused again.`
  },
  output,
  usage: encodeUsage(usage)
})
