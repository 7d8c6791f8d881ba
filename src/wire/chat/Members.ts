/**
 * Members of nested objects that the decoders of this wire read.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import type { InnerObjects } from "../json/Inner.ts"
import { type Members, read, type ReadMembers } from "../json/Members.ts"
import { makeSpelling } from "../json/Spelling.ts"

const part = read("type", "cache_control", "prompt_cache_breakpoint")
const text = { ...part, text: true } as const

const googleContent: Members = { of: { google: { of: read("thought_signature") } } }

export const nestedMembers: ReadMembers = {
  messages: {
    each: {
      of: {
        ...read("role name refusal reasoning_content reasoning tool_call_id cache_control thinking_blocks annotations"),
        reasoning_details: { each: { of: read("type text summary data signature format id index") } },
        extra_content: googleContent,
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
              ...read("id", "type", "index", "cache_control"),
              extra_content: googleContent,
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

const functionMembers = read("name", "description", "parameters", "strict", "format", "input_schema", "cache_control")
const namedTool: Members = { of: functionMembers }
const toolMembers: ReadMembers = {
  ...read("type", "name", "description", "parameters", "strict", "input_schema", "cache_control"),
  function: namedTool,
  custom: namedTool
}

/** Members of messages besides those that the decoder reads itself. */
const ofMessages: ReadMembers = {
  messages: {
    each: {
      of: { function_call: { of: read("name", "arguments") }, audio: { of: read("id", "data", "transcript") } }
    }
  }
}

/**
 * Members that requests of the endpoints under `/v1` have in OpenAI's form, those for pictures, sound, video and
 * vectors included.
 */
const ofOpenAi: ReadMembers = {
  ...read(
    "model messages input prompt instructions stream parallel_tool_calls n",
    "max_tokens max_completion_tokens max_output_tokens temperature top_p top_k seed stop",
    "presence_penalty frequency_penalty logprobs top_logprobs logit_bias reasoning_effort user",
    "metadata modalities service_tier store",
    "verbosity safety_identifier prompt_cache_key suffix echo best_of",
    "encoding_format dimensions size quality style background output_format moderation",
    "partial_images voice speed language file image image[] mask async seconds",
    "duration input_reference query documents top_n return_documents rank_fields",
    "input_type embedding_types texts truncate include include[] timestamp_granularities[]",
    "images inputs output_dimension output_dtype negative_prompt aspect_ratio resolution",
    "lyrics instrumental input_fidelity",
    // What aggregators read: lists of models to fall back on, settings of plugins and providers.
    "models route provider plugins transforms fallbacks extra_body"
  ),
  stream_options: { of: read("include_usage", "include_obfuscation") },
  reasoning: { of: read("effort", "max_tokens", "exclude", "enabled", "summary") },
  thinking: { of: read("type", "budget_tokens") },
  audio: { of: read("voice", "format") },
  prediction: { of: read("type", "content") },
  web_search_options: { of: read("search_context_size", "user_location") },
  functions: { each: { of: functionMembers } },
  function_call: { of: read("name") },
  tool_choice: {
    of: {
      ...toolMembers,
      mode: true,
      tools: { each: { of: toolMembers } },
      allowed_tools: { of: { mode: true, tools: { each: { of: toolMembers } } } }
    }
  },
  tools: { each: { of: toolMembers } }
}

/** Finds members that programs could read in two ways. */
export const misspelt = makeSpelling({ ...ofOpenAi, ...nestedMembers }, { also: ofMessages })

/** Objects of which a request has one. */
export const innerObjects: InnerObjects = {
  tool_choice: new Set(["type", "function", "custom", "allowed_tools"]),
  "tool_choice.function": new Set(["name"]),
  "tool_choice.custom": new Set(["name"]),
  "tool_choice.allowed_tools": new Set(["mode", "tools"]),
  response_format: new Set(["type", "json_schema"]),
  "response_format.json_schema": new Set(["name", "description", "schema", "strict"])
}
