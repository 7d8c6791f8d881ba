/**
 * The proofs providers want back (signatures, encrypted reasoning), as they are in the bytes of a wire that carries them itself.
 * Found without decoding: most requests and answers hold none.
 */
import type { WireName } from "../../../contract/domain/Wire.ts"
import { makeDropLog } from "../../../wire/canonical/DropLog.ts"
import type { Conversation, Part, ReasoningState } from "../../../wire/canonical/Conversation.ts"

/** Marks in front of a proof, and patterns of both. Proofs are base64, without escapes. */
const markers: Partial<Record<WireName, { readonly mark: string; readonly pattern: RegExp }>> = {
  messages: { mark: '"signature"', pattern: /"signature"\s*:\s*"([^"\\]+)"/g },
  responses: { mark: '"encrypted_content"', pattern: /"encrypted_content"\s*:\s*"([^"\\]+)"/g },
  gemini: { mark: '"thoughtSignature"', pattern: /"thoughtSignature"\s*:\s*"([^"\\]+)"/g }
}

/** Most proofs that are read from one body. */
const maxProofs = 2_000

export const proofsIn = (wire: WireName, bytes: Buffer | string): ReadonlyArray<string> => {
  const marker = markers[wire]
  if (marker === undefined || !bytes.includes(marker.mark)) return []
  const found: Array<string> = []
  for (const [, proof] of bytes.toString().matchAll(marker.pattern)) {
    if (proof !== undefined && found.push(proof) >= maxProofs) break
  }
  return found
}

const proofOf = (state: ReasoningState): string | undefined => state.signature ?? state.encrypted

const stripped = (part: Part, isForeign: (proof: string) => boolean): Part => {
  if (part.type !== "reasoning" && part.type !== "text" && part.type !== "tool_call") return part
  const proof = part.state === undefined ? undefined : proofOf(part.state)
  if (proof === undefined || !isForeign(proof)) return part
  const { state: _, ...rest } = part
  return rest
}

/** The conversation without the proofs another account made, which are named. What they proved stays, as far as the wire can say it. */
export const withoutForeignProofs = (
  conversation: Conversation,
  isForeign: (proof: string) => boolean
): Conversation => {
  let lost = false
  const messages = conversation.messages.map((message) => {
    if (message.role !== "assistant") return message
    const parts = message.parts.map((part) => stripped(part, isForeign))
    if (parts.every((part, index) => part === message.parts[index])) return message
    lost = true
    return Object.assign({}, message, { parts })
  })
  if (!lost) return conversation
  const log = makeDropLog(conversation.wire)
  log.drop("signature")
  return { ...conversation, messages, leftOut: [...(conversation.leftOut ?? []), ...log.dropped] }
}
