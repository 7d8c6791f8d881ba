/**
 * Members of nested objects that the decoders of this wire read.
 *
 * https://docs.ollama.com/api/chat
 */
import { read, type ReadMembers } from "../json/Members.ts"
import { makeSpelling } from "../json/Spelling.ts"

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

const options = read(
  "num_predict num_ctx num_keep temperature top_p top_k min_p seed stop",
  "presence_penalty frequency_penalty repeat_penalty repeat_last_n"
)

/** Finds members that programs could read in two ways: Ollama itself reads names in any case of letters. */
export const misspelt = makeSpelling({
  ...read(
    "model stream format think logprobs top_logprobs keep_alive prompt suffix system",
    "template context raw images input truncate dimensions name verbose"
  ),
  options: { of: options },
  tools: { each: { of: { type: true, function: { of: read("name", "description", "parameters") } } } },
  ...nestedMembers
})
