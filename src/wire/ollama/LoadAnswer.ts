/**
 * A request without messages (or without a prompt) asks the server to load the model, or with `keep_alive: 0` to unload it. Clients use
 * that to warm a model up and wait for the answer; behind a gateway every model is ready, so the answer comes at once.
 *
 * https://docs.ollama.com/api/chat
 */
import { isArray, type Json, type JsonObject } from "../json/Json.ts"
import { chatShape, generateShape } from "./Piece.ts"
import { toTimestamp } from "./Timestamp.ts"

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined || value === null || value === "" || (isArray(value) && value.length === 0)

const zero = /^-?0+(?:\.0+)?(?:ns|us|µs|ms|s|m|h)?$/

const unloads = (keepAlive: Json | undefined): boolean =>
  keepAlive === 0 || (typeof keepAlive === "string" && zero.test(keepAlive))

/**
 * The complete answer, also as the one line of a stream; null when the request has a prompt, or names no model. To be called before the
 * request is checked as a conversation.
 */
export const loadAnswer = (endpoint: "chat" | "generate", body: JsonObject, nowMs: number): JsonObject | null => {
  const { images, keep_alive: keepAlive, messages, model, prompt } = body
  const asks = endpoint === "chat" ? !isEmpty(messages) : !(isEmpty(prompt) && isEmpty(images))
  if (asks || typeof model !== "string" || model === "") return null
  const shape = endpoint === "chat" ? chatShape : generateShape
  return {
    model,
    created_at: toTimestamp(nowMs),
    ...shape({ content: "" }),
    done_reason: unloads(keepAlive) ? "unload" : "load",
    done: true
  }
}
