/**
 * What the decoders of this wire read of nested objects.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import { read, type ReadMembers } from "../json/Members.ts"
import { makeSpelling } from "../json/Spelling.ts"

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

const namedTool = { of: read("name", "description", "parameters", "strict", "format", "input_schema", "cache_control") }

/** Members that requests of the endpoints under `/v1` have in OpenAI's form, those for pictures, sound, film and vectors included. */
const ofOpenAi: ReadMembers = {
  ...read("model", "messages", "input", "prompt", "instructions", "stream", "tool_choice", "parallel_tool_calls", "n"),
  ...read("max_tokens", "max_completion_tokens", "max_output_tokens", "temperature", "top_p", "top_k", "seed", "stop"),
  ...read(
    "presence_penalty",
    "frequency_penalty",
    "logprobs",
    "top_logprobs",
    "logit_bias",
    "reasoning_effort",
    "user"
  ),
  ...read("metadata", "functions", "function_call", "modalities", "audio", "prediction", "service_tier", "store"),
  ...read("web_search_options", "verbosity", "safety_identifier", "prompt_cache_key", "suffix", "echo", "best_of"),
  ...read("encoding_format", "dimensions", "size", "quality", "style", "background", "output_format", "moderation"),
  ...read("partial_images", "voice", "speed", "language", "file", "image", "mask", "async", "seconds", "duration"),
  ...read("input_reference", "query", "documents", "top_n", "reasoning", "thinking"),
  stream_options: { of: read("include_usage", "include_obfuscation") },
  tools: {
    each: {
      of: {
        ...read("type", "name", "description", "parameters", "strict", "input_schema", "cache_control"),
        function: namedTool,
        custom: namedTool
      }
    }
  }
}

/** Finds members that programs could read in two ways. */
export const misspelt = makeSpelling({ ...ofOpenAi, ...nestedMembers })
