/**
 * Output items of an answer, the same in complete answers and in stream events.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import type { Citation, ReasoningState } from "../canonical/Conversation.ts"
import { unwrapInput } from "../canonical/tools/FreeForm.ts"
import { type JsonObject, optional } from "../json/Json.ts"
import { encodeCitation } from "./Content.ts"
import { itemId } from "./Ids.ts"
import type { DeclaredTool } from "./ToolNames.ts"

export type ItemStatus = "in_progress" | "completed"

const logprobDefaults: JsonObject = { bytes: [], top_logprobs: [] }

/** Adds members that this wire's clients expect and other wires leave out or set to null. */
export const completeLogprob = (logprob: JsonObject): JsonObject => {
  const given = Object.entries(logprob).filter(([, value]) => value !== null)
  return { ...logprobDefaults, ...Object.fromEntries(given) }
}

export const outputText = (
  text: string,
  annotations: ReadonlyArray<JsonObject>,
  logprobs: ReadonlyArray<JsonObject> = []
): JsonObject => ({ type: "output_text", text, annotations, logprobs: logprobs.map(completeLogprob) })

export const annotationsOf = (citations: ReadonlyArray<Citation> | undefined): ReadonlyArray<JsonObject> =>
  (citations ?? []).flatMap<JsonObject>((citation) => encodeCitation(citation) ?? [])

export const messageItem = (id: string, content: ReadonlyArray<JsonObject>, status: ItemStatus): JsonObject => ({
  id,
  type: "message",
  status,
  role: "assistant",
  content
})

export const summaryPart = (text: string): JsonObject => ({ type: "summary_text", text })

/**
 * Makes the item of a reasoning. Only this wire's own state is included, because clients send it back with the next
 * request.
 */
export const reasoningItem = (id: string, text: string, state: ReasoningState | undefined): JsonObject => ({
  id,
  type: "reasoning",
  summary: text === "" ? [] : [summaryPart(text)],
  ...(state?.wire === "responses" ? optional("encrypted_content", state.encrypted) : {})
})

/** A call as the client declared its tool. */
export interface CallShape {
  readonly id: string
  readonly callId: string
  readonly name: string
  readonly namespace: string | null
  readonly custom: boolean
  /** The upstream was offered a JSON tool in place of a free-form one: the text is a member of the arguments. */
  readonly wrapped: boolean
}

export const callShape = (
  call: { readonly id: string; readonly name: string; readonly kind: "function" | "custom" },
  tools: ReadonlyMap<string, DeclaredTool>,
  responseId: string,
  index: number
): CallShape => {
  const declared = tools.get(call.name)
  const custom = call.kind === "custom" || declared?.custom === true
  return {
    id: itemId(custom ? "ctc" : "fc", responseId, index),
    callId: call.id,
    name: declared?.name ?? call.name,
    namespace: declared?.namespace ?? null,
    custom,
    wrapped: custom && call.kind === "function"
  }
}

/** The argument text of a call, or its free text. */
export const inputOf = (shape: CallShape, args: string): string => (shape.wrapped ? unwrapInput(args) : args)

/** `input` is the argument text, or the free text of a custom tool. */
export const callItem = (shape: CallShape, input: string, status: ItemStatus): JsonObject => ({
  id: shape.id,
  type: shape.custom ? "custom_tool_call" : "function_call",
  status,
  call_id: shape.callId,
  name: shape.name,
  ...optional("namespace", shape.namespace),
  ...(shape.custom ? { input } : { arguments: input })
})
