/**
 * What the decoders of this wire read of nested objects.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import { read, type ReadMembers } from "../json/Members.ts"

const part = read("type", "cache_control", "prompt_cache_breakpoint")
const text = { ...part, text: true } as const

export const nestedMembers: ReadMembers = {
  messages: {
    each: {
      of: {
        ...read("role", "name", "refusal", "reasoning_content", "reasoning", "tool_call_id"),
        content: {
          each: {
            byType: {
              text,
              input_text: text,
              output_text: text,
              refusal: read("type", "refusal"),
              image_url: { ...part, image_url: { of: read("url", "detail") } },
              input_audio: { ...part, input_audio: { of: read("data", "format") } },
              file: { ...part, file: { of: read("file_data", "file_id", "filename") } }
            }
          }
        },
        tool_calls: {
          each: {
            of: {
              ...read("id", "type", "index"),
              function: { of: read("name", "arguments") },
              custom: { of: read("name", "input") }
            }
          }
        }
      }
    }
  },
  response_format: {
    of: { type: true, json_schema: { of: read("name", "description", "schema", "strict") } }
  }
}
