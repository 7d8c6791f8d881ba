/**
 * What the decoders of this wire read of nested objects.
 *
 * https://docs.ollama.com/api/chat
 */
import { read, type ReadMembers } from "../json/Members.ts"

export const nestedMembers: ReadMembers = {
  messages: {
    each: {
      of: {
        ...read("role", "content", "images", "thinking", "tool_name", "tool_call_id"),
        tool_calls: { each: { of: { ...read("id", "type"), function: { of: read("name", "arguments", "index") } } } }
      }
    }
  }
}
