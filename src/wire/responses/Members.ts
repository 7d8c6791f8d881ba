/**
 * What the decoders of this wire read of nested objects. Ids and states of items have no meaning for other providers.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import { type Members, read, type ReadMembers } from "../json/Members.ts"

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
