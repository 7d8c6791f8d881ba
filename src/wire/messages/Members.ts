/**
 * Members of nested objects that the decoders of this wire read.
 *
 * https://platform.claude.com/docs/en/api/messages
 */
import type { InnerObjects } from "../json/Inner.ts"
import { type Members, read, type ReadMembers } from "../json/Members.ts"
import { makeSpelling } from "../json/Spelling.ts"

const block = read("type", "cache_control")
// With `content` in the source the whole document stays an opaque block of this wire.
const source: Members = { of: read("type", "media_type", "data", "url", "file_id", "content") }

const blocks = {
  text: { ...block, ...read("text", "citations") },
  image: { ...block, source },
  document: { ...block, source, title: true, context: true },
  thinking: { ...block, ...read("thinking", "signature") },
  redacted_thinking: read("type", "data"),
  tool_use: { ...block, ...read("id", "name", "input") }
} satisfies Record<string, ReadMembers>

const result: ReadMembers = { ...block, ...read("tool_use_id", "is_error"), content: { each: { byType: blocks } } }

export const nestedMembers: ReadMembers = {
  messages: { each: { of: { role: true, content: { each: { byType: { ...blocks, tool_result: result } } } } } },
  system: { each: { byType: blocks } },
  thinking: { of: read("type", "budget_tokens", "display") },
  tool_choice: { of: read("type", "name", "disable_parallel_tool_use") },
  output_format: { of: read("type", "schema") }
}

const tool = read(
  "type name description input_schema strict cache_control max_uses allowed_domains",
  "blocked_domains user_location defer_loading allowed_callers input_examples"
)

/** Finds members that programs could read in two ways. */
export const misspelt = makeSpelling({
  ...read(
    "model max_tokens stream temperature top_p top_k stop_sequences service_tier",
    "container context_management inference_geo speed cache_control"
  ),
  mcp_servers: { each: { of: read("type", "name", "url", "authorization_token", "tool_configuration") } },
  metadata: { of: read("user_id") },
  output_config: { of: { ...read("effort"), format: { of: read("type", "schema") } } },
  tools: { each: { of: tool } },
  ...nestedMembers
})

/** Objects of which a request has one. */
export const innerObjects: InnerObjects = {
  thinking: new Set(["type", "budget_tokens", "display"]),
  tool_choice: new Set(["type", "name", "disable_parallel_tool_use"]),
  "output_config.format": new Set(["type", "schema"])
}
