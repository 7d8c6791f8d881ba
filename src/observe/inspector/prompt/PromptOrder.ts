/** The prompt of a request of any wire, in the order in which providers cache it. Pure. */
import type { WireName } from "../../../contract/domain/Wire.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import type { Prompt } from "./Prompt.ts"
import { chatPrompt } from "./wires/Chat.ts"
import { geminiPrompt } from "./wires/Gemini.ts"
import { messagesPrompt } from "./wires/Messages.ts"
import { ollamaPrompt } from "./wires/Ollama.ts"
import { responsesPrompt } from "./wires/Responses.ts"

const byWire: Readonly<Record<WireName, (body: JsonObject) => Prompt>> = {
  chat: chatPrompt,
  messages: messagesPrompt,
  responses: responsesPrompt,
  gemini: geminiPrompt,
  ollama: ollamaPrompt
}

/** Takes time and memory linear in the body. */
export const promptOf = (wire: WireName, body: JsonObject): Prompt => byWire[wire](body)
