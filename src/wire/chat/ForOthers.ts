/** A decoded chat request as the other wires know it: with marks, proofs and wishes to reason in the places that all wires have. Idempotent. */
import type { Conversation } from "../canonical/Conversation.ts"
import { markedMessage, markedTool } from "./ClientMarks.ts"
import { withProofs } from "./ClientProofs.ts"
import { withoutReasoningWords } from "./ClientReasoning.ts"
import { withoutFunctions } from "./LegacyFunctions.ts"

export const forOthers = (conversation: Conversation): Conversation => {
  const { extras, messages, reasoning, tools } = conversation
  return {
    ...conversation,
    messages: messages.map((message) => markedMessage(withProofs(message))),
    tools: tools.map(markedTool),
    extras: withoutFunctions(reasoning?.inOwnWords === true ? withoutReasoningWords(extras) : extras)
  }
}
