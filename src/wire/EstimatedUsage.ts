/**
 * The gateway's own estimate in the end of an answer whose upstream reported no usage: clients get the numbers that the bill has. Every wire puts
 * usage into its last events, which leave after the request is settled. Pure; only the end of the text is looked at.
 */
import type { WireName } from "../contract/domain/Wire.ts"
import type { Usage } from "./canonical/Usage.ts"
import { encodeUsage as chatUsage } from "./chat/Usage.ts"
import { encodeUsage as geminiUsage } from "./gemini/Usage.ts"
import { isArray, isObject, type JsonObject, objectOr, optional, parseJson, stringOr } from "./json/Json.ts"
import { encodeUsage as messagesUsage } from "./messages/Usage.ts"
import { encodeCounts } from "./ollama/Usage.ts"
import { encodeUsage as responsesUsage } from "./responses/Usage.ts"

/** Events at the end of a stream that are looked at: usage is in one of the last. */
const lastEvents = 8

const endMark = "data: [DONE]"

/** Replaces the data of the last event that `put` has something for; null where there is none. */
const inLastEvent = (
  text: string,
  separator: string,
  prefix: string,
  put: (event: JsonObject) => JsonObject | null
): string | null => {
  let end = text.length
  for (let looked = 0; looked < lastEvents && end > 0; looked += 1) {
    const before = text.lastIndexOf(separator, end - 1 - separator.length)
    const start = before === -1 ? 0 : before + separator.length
    const block = text.slice(start, end)
    const at = prefix === "" ? 0 : block.lastIndexOf(prefix)
    const opens = at === -1 ? -1 : block.indexOf("{", at)
    const closes = block.lastIndexOf("}")
    const event = opens === -1 ? undefined : parseJson(block.slice(opens, closes + 1))
    const changed = isObject(event) ? put(event) : null
    if (changed !== null) {
      return `${text.slice(0, start + opens)}${JSON.stringify(changed)}${text.slice(start + closes + 1)}`
    }
    end = start
  }
  return null
}

/** The chunk that a client of the chat wire has asked for, with the id of the others where they can be seen. */
const chatChunk = (text: string, usage: Usage, { model, requestId }: Answer): string => {
  const at = text.lastIndexOf("data: {")
  const close = at === -1 ? -1 : text.indexOf("\n", at)
  const last = at === -1 ? undefined : parseJson(text.slice(at + 6, close === -1 ? undefined : close))
  const { created, id, model: named } = objectOr(last)
  const chunk = {
    id: stringOr(id) ?? requestId,
    object: "chat.completion.chunk",
    ...optional("created", typeof created === "number" ? created : null),
    model: stringOr(named) ?? model,
    choices: [],
    usage: chatUsage(usage)
  }
  return `data: ${JSON.stringify(chunk)}\n\n`
}

/** Names of the answer, used where its last bytes do not have them. */
export interface Answer {
  readonly requestId: string
  readonly model: string
}

const inChat = (text: string, usage: Usage, answer: Answer): string | null => {
  const at = text.lastIndexOf(endMark)
  return at === -1 ? null : text.slice(0, at) + chatChunk(text, usage, answer) + text.slice(at)
}

const inMessages = (text: string, usage: Usage): string | null =>
  inLastEvent(text, "\n\n", "data:", (event) =>
    event["type"] === "message_delta"
      ? { ...event, usage: { ...objectOr(event["usage"]), ...messagesUsage(usage) } }
      : null
  )

const inResponses = (text: string, usage: Usage): string | null =>
  inLastEvent(text, "\n\n", "data:", (event) => {
    const { response } = event
    return isObject(response) && isArray(response["output"])
      ? { ...event, response: { ...response, usage: responsesUsage(usage) } }
      : null
  })

const inGemini = (text: string, usage: Usage): string | null =>
  inLastEvent(text, "\n\n", "data:", (event) =>
    isArray(event["candidates"]) ? { ...event, usageMetadata: geminiUsage(usage) } : null
  )

const inOllama = (text: string, usage: Usage): string | null =>
  inLastEvent(text, "\n", "", (event) => (event["done"] === true ? { ...event, ...encodeCounts(usage, null) } : null))

const inStream: Readonly<Record<WireName, (text: string, usage: Usage, answer: Answer) => string | null>> = {
  chat: inChat,
  messages: inMessages,
  responses: inResponses,
  gemini: inGemini,
  ollama: inOllama
}

/** The last bytes of a stream with the estimate in them; the same where they have no place for it. */
export const streamWithUsage = (wire: WireName, last: Buffer | string, usage: Usage, answer: Answer): Buffer | string =>
  inStream[wire](last.toString(), usage, answer) ?? last
