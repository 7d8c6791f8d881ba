/**
 * Reasoning of earlier turns with its proofs, as clients of this wire keep it in the words of the servers that gave it. It goes to the wire that it
 * belongs to; on this wire it goes on as it came.
 *
 * - `thinking_blocks` of a message: https://docs.litellm.ai/docs/reasoning_content
 * - `reasoning_details` of a message: https://openrouter.ai/docs/use-cases/reasoning-tokens
 * - `extra_content.google.thought_signature` of a call, or of a message: https://ai.google.dev/gemini-api/docs/openai
 */
import type { WireName } from "../../contract/domain/Wire.ts"
import type { Message, Part, ReasoningPart, ReasoningState } from "../canonical/Conversation.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, optional, stringOr } from "../json/Json.ts"

/** Members of a message with such words. */
const members = ["thinking_blocks", "reasoning_details", "extra_content"] as const

const said = (value: Json | undefined): string | null => {
  const text = stringOr(value)
  return text === "" ? null : text
}

/** Reasoning of a message, and its signatures of Gemini by the ids of their calls; the empty id is the message's own. */
interface Found {
  readonly reasoning: Array<ReasoningPart>
  readonly signatures: Map<string, string>
}

const thinking = (text: string, state: ReasoningState): ReasoningPart => ({ type: "reasoning", text, state })

const ofBlock = (block: Json): ReasoningPart | null => {
  const { data, signature, thinking: text, type } = objectOr(block)
  const proof = said(signature)
  const encrypted = said(data)
  if (type === "thinking" && proof !== null)
    return thinking(stringOr(text) ?? "", { wire: "messages", signature: proof })
  return type === "redacted_thinking" && encrypted !== null ? thinking("", { wire: "messages", encrypted }) : null
}

const formats: ReadonlyArray<readonly [format: RegExp, wire: WireName]> = [
  [/^anthropic-/, "messages"],
  [/^(?:openai|azure-openai|xai)-responses-/, "responses"],
  [/^google-gemini-/, "gemini"]
]

/** Servers that name no format speak of Claude. */
const wireOf = (format: string | null): WireName | null =>
  format === null || format === "unknown"
    ? "messages"
    : (formats.find(([pattern]) => pattern.test(format))?.[1] ?? null)

/** Joins summary and proof of one item of the responses wire, which come apart, by their id or their place. */
const joinResponses = (found: Found, text: string, encrypted: string | null, id: string | null): void => {
  const last = found.reasoning.at(-1)
  const goesOn =
    last?.state?.wire === "responses" && (id === null || last.state.id === undefined || last.state.id === id)
  if (last === undefined || !goesOn || (encrypted !== null && last.state?.encrypted !== undefined)) {
    found.reasoning.push(
      thinking(text, { wire: "responses", ...optional("encrypted", encrypted), ...optional("id", id) })
    )
    return
  }
  const state = {
    ...last.state,
    wire: "responses",
    ...optional("encrypted", encrypted),
    ...optional("id", id)
  } as const
  found.reasoning[found.reasoning.length - 1] = thinking(last.text + text, state)
}

/** Reads one detail, and returns whether it was understood. */
const readDetail = (detail: Json, found: Found): boolean => {
  const { data, format, id, signature, summary, text, type } = objectOr(detail)
  const wire = wireOf(stringOr(format))
  const words = (type === "reasoning.summary" ? stringOr(summary) : stringOr(text)) ?? ""
  const proof = type === "reasoning.encrypted" ? said(data) : said(signature)
  if (typeof type !== "string" || !type.startsWith("reasoning.")) return false
  switch (wire) {
    case "messages":
      if (proof === null) return false
      found.reasoning.push(
        thinking(words, type === "reasoning.encrypted" ? { wire, encrypted: proof } : { wire, signature: proof })
      )
      return true
    case "responses":
      joinResponses(found, words, type === "reasoning.encrypted" ? proof : null, said(id))
      return true
    case "gemini":
      if (proof !== null) found.signatures.set(said(id) ?? "", proof)
      return true
    default:
      return false
  }
}

const googleSignature = (extras: JsonObject | undefined): string | null => {
  const { google } = objectOr(extras?.["extra_content"])
  return said(objectOr(google)["thought_signature"])
}

/** Reads the members that are understood whole, and gives what is left of them. */
const readMembers = (extras: JsonObject, found: Found): JsonObject => {
  const left: Record<string, Json | undefined> = { ...extras }
  const { reasoning_details: details, thinking_blocks: blocks } = extras
  if (isArray(blocks)) {
    const parts = blocks.flatMap((block) => ofBlock(block) ?? [])
    if (parts.length === blocks.length) delete left["thinking_blocks"]
    found.reasoning.push(...parts)
  }
  // Both have the same content.
  if (isArray(details)) {
    const own: Found = { reasoning: [], signatures: found.signatures }
    const understood = details.map((detail) => readDetail(detail, own))
    if (found.reasoning.length === 0) found.reasoning.push(...own.reasoning)
    if (understood.every(Boolean)) delete left["reasoning_details"]
  }
  const signature = googleSignature(extras)
  if (signature !== null) {
    found.signatures.set("", signature)
    delete left["extra_content"]
  }
  return left
}

const signed = (part: Part, signature: string | undefined): Part =>
  signature === undefined || (part.type !== "text" && part.type !== "tool_call") || part.state !== undefined
    ? part
    : { ...part, state: { wire: "gemini", signature } }

/** Signs a call with its own signature, or the one that the message has for it. */
const signedCall = (part: Part, signatures: ReadonlyMap<string, string>): Part => {
  if (part.type !== "tool_call") return part
  const own = googleSignature(part.extras)
  if (own === null) return signed(part, signatures.get(part.id))
  const { extra_content: _content, ...rest } = part.extras ?? {}
  const { extras: _extras, ...bare } = part
  return signed(Object.keys(rest).length === 0 ? bare : { ...bare, extras: rest }, own)
}

const carries = ({ extras, parts, role }: Message): boolean =>
  role === "assistant" &&
  (members.some((member) => extras?.[member] !== undefined) ||
    parts.some((part) => part.type === "tool_call" && isObject(part.extras?.["extra_content"])))

/** The message with its proofs where the other wires have them; the same object where it carries none. */
export const withProofs = (message: Message): Message => {
  if (!carries(message)) return message
  const { extras, ...bare } = message
  const found: Found = { reasoning: [], signatures: new Map() }
  const left = extras === undefined ? {} : readMembers(extras, found)
  const parts = message.parts.map((part) => signedCall(part, found.signatures))
  const own = found.signatures.get("")
  const at = own === undefined ? -1 : parts.findLastIndex(({ type }) => type === "text")
  const last = parts[at]
  const whole = last === undefined ? parts : parts.with(at, signed(last, own))
  return {
    ...bare,
    // The plain text of the reasoning is the same without its proof.
    parts:
      found.reasoning.length === 0 ? whole : [...found.reasoning, ...whole.filter(({ type }) => type !== "reasoning")],
    ...(Object.keys(left).length === 0 ? {} : { extras: left })
  }
}
