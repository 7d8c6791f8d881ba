/**
 * Canonical conversation → ollama chat request.
 *
 * https://docs.ollama.com/api/chat
 */
import type { Conversation } from "../canonical/Conversation.ts"
import { makeDropLog } from "../canonical/DropLog.ts"
import type { EncodedRequest, EncodeOptions } from "../WireCodec.ts"
import { encodeMessages } from "./MessageEncode.ts"
import { encodeSettings } from "./Settings.ts"
import { encodeTools } from "./Tools.ts"

/** Members that only `/api/generate` has. */
const elsewhere = new Set(["suffix", "template", "raw", "context"])

export const encodeRequest = (conversation: Conversation, options: EncodeOptions): EncodedRequest => {
  const log = makeDropLog(conversation.wire)
  const body = {
    ...encodeSettings(conversation, options, elsewhere, log),
    messages: encodeMessages(conversation, log),
    ...encodeTools(conversation, log)
  }
  return { body, dropped: [...log.dropped], lost: [...log.lost], mapped: [...log.mapped] }
}
