/**
 * Members of nested objects that the decoders of this wire read. Ids and states of items have no meaning for other
 * providers.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import type { InnerObjects } from "../json/Inner.ts"
import { type Members, read, type ReadMembers } from "../json/Members.ts"
import { makeSpelling } from "../json/Spelling.ts"

const part = read("type", "prompt_cache_breakpoint")
const text = { ...part, ...read("text", "annotations", "logprobs") } as const

const content: Members = {
  each: {
    byType: {
      input_text: text,
      output_text: text,
      text,
      refusal: read("type", "refusal"),
      input_image: { ...part, ...read("image_url", "file_id", "detail") },
      input_file: { ...part, ...read("file_data", "file_url", "file_id", "filename") },
      input_audio: { ...part, input_audio: { of: read("data", "format") } }
    }
  }
}

const item = read("type", "id", "status")
const call = { ...item, ...read("call_id", "name", "namespace") } as const
const output: ReadMembers = { ...item, call_id: true, output: content }

export const nestedMembers: ReadMembers = {
  text: { of: { verbosity: true, format: { of: read("type", "name", "description", "schema", "strict") } } },
  input: {
    each: {
      byType: {
        message: { ...item, role: true, content },
        function_call: { ...call, arguments: true },
        custom_tool_call: { ...call, input: true },
        function_call_output: output,
        custom_tool_call_output: output,
        reasoning: { ...item, ...read("summary", "content", "encrypted_content") }
      }
    }
  }
}

const tool = read(
  "type",
  "name",
  "description",
  "parameters",
  "strict",
  "format",
  "tools",
  "server_url",
  "server_label"
)

/** Finds members that programs could read in two ways. */
export const misspelt = makeSpelling({
  ...read(
    "model instructions stream parallel_tool_calls max_output_tokens temperature",
    "top_p top_logprobs include user metadata previous_response_id",
    "background store service_tier truncation max_tool_calls safety_identifier prompt_cache_key"
  ),
  conversation: { of: read("id") },
  prompt: { of: read("id", "version", "variables") },
  tool_choice: { of: { ...tool, mode: true, tools: { each: { of: tool } } } },
  reasoning: { of: read("effort", "summary", "generate_summary") },
  stream_options: { of: read("include_obfuscation") },
  tools: { each: { of: tool } },
  ...nestedMembers
})

/** Objects of which a request has one. */
export const innerObjects: InnerObjects = {
  tool_choice: new Set(["type", "name", "namespace", "mode", "tools"])
}
