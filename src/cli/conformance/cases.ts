/** All cases, by wire; the plainest question of a wire is its first one. */
import type { Case } from "./Case.ts"
import { chat } from "./chat.ts"
import { gemini } from "./gemini.ts"
import { messages } from "./messages.ts"
import { ollama } from "./ollama.ts"
import { responses } from "./responses.ts"

export const cases: ReadonlyArray<Case> = [...chat, ...responses, ...messages, ...gemini, ...ollama]
