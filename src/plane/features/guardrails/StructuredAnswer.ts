/** Compares a whole answer with the JSON schema of its request, and makes the request for another try. Pure. */
import * as Either from "effect/Either"
import { checkSchema } from "../../guard/schema/JsonSchema.ts"
import type { Conversation } from "../../../wire/canonical/Conversation.ts"
import { codecs } from "../../../wire/Codec.ts"
import { isObject, type JsonObject, parseJson } from "../../../wire/json/Json.ts"
import { rewritten } from "../../request/RewrittenWork.ts"
import type { Work } from "../../request/Exchange.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

/** A larger schema is not checked. */
const maxSchemaChars = 262_144

/** Parts of a request that its answer is compared with. */
export interface Expected {
  readonly conversation: Conversation
  readonly schema: JsonObject
}

/** `unchecked`: nothing can be said (the model refuses, calls a tool, or the schema takes too much). */
export type StructuredVerdict =
  | { readonly _tag: "Ok" }
  | { readonly _tag: "Unchecked" }
  | { readonly _tag: "Failed"; readonly message: string; readonly text: string }

/** The schema of a request whose answer is whole; null without one. */
export const expectedOf = (work: Work): Expected | null => {
  const { envelope, exchange } = work
  if (!envelope.wantsSchema || envelope.stream || exchange.codec.endpoint !== undefined) return null
  const decoded = work.conversation()
  if (Either.isLeft(decoded) || decoded.right.candidates > 1) return null
  const format = decoded.right.outputFormat
  if (format?.type !== "json_schema" || JSON.stringify(format.schema).length > maxSchemaChars) return null
  return { conversation: decoded.right, schema: format.schema }
}

const unchecked: StructuredVerdict = { _tag: "Unchecked" }

export const judge = ({ exchange }: Work, { schema }: Expected, body: Buffer | string): StructuredVerdict => {
  const parsed = parseJson(body.toString())
  if (!isObject(parsed)) return unchecked
  const decoded = exchange.codec.decodeResponse(parsed)
  if (Either.isLeft(decoded)) return unchecked
  const { parts } = decoded.right
  if (parts.some(({ type }) => type === "refusal" || type === "tool_call")) return unchecked
  const text = parts.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("")
  const value = parseJson(text)
  if (value === undefined) return { _tag: "Failed", message: "The answer is not JSON.", text }
  const verdict = checkSchema(schema, value)
  if (verdict._tag === "Undecided") return unchecked
  return verdict._tag === "Valid" ? { _tag: "Ok" } : { _tag: "Failed", message: verdict.message, text }
}

/** A longer answer is not shown to the model again. */
const maxShownChars = 100_000

const instruction = (problem: string): string =>
  `Your last message does not match the JSON schema of this conversation: ${asSentence(problem)} Answer again, with JSON that matches the schema and nothing else.`

/** The request that asks once more; null where it cannot be asked (an endpoint without turns). */
export const repairOf = (
  work: Work,
  { conversation }: Expected,
  { message, text }: { readonly message: string; readonly text: string }
): Work | null => {
  const { exchange } = work
  const codec = codecs[exchange.wire]
  if (exchange.codec.decodeRequest !== codec.decodeRequest) return null
  const answer =
    text === "" ? [] : [{ role: "assistant", parts: [{ type: "text", text: text.slice(0, maxShownChars) }] } as const]
  const question = { role: "user", parts: [{ type: "text", text: instruction(message) }] } as const
  const asked: Conversation = { ...conversation, messages: [...conversation.messages, ...answer, question] }
  const { body } = codec.encodeRequest(asked, {
    model: work.envelope.model,
    stream: false,
    maxOutputTokens: null,
    reasoning: null
  })
  const again = rewritten(work, body)
  return { ...again, envelope: { ...again.envelope, needsRewrite: true } }
}
