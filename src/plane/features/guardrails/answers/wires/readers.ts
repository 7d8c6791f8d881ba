/** The reader of each wire. */
import type { WireName } from "../../../../../contract/domain/Wire.ts"
import type { AnswerReader } from "../Reading.ts"
import { chat } from "./Chat.ts"
import { gemini } from "./Gemini.ts"
import { messages } from "./Messages.ts"
import { ollama } from "./Ollama.ts"
import { responses } from "./Responses.ts"

export const readers: Readonly<Record<WireName, AnswerReader>> = { chat, messages, responses, gemini, ollama }
