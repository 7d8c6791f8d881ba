/** One exchange in each format that the traffic inspector reads, as providers document them: whole and as a stream. */
import type { ApiKind } from "../../src/contract/domain/TrafficRecord.ts"

export interface ModelTraffic {
  readonly apiKind: ApiKind
  readonly host: string
  readonly path: string
  readonly request: object
  readonly answer: object
  readonly answerType?: string
  /** Path, request and body of the same as a stream; absent: the format has none. */
  readonly stream?: { readonly path?: string; readonly body: string; readonly type: string }
}

const sse = (events: ReadonlyArray<object | string>): string =>
  events.map((event) => `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`).join("")

const named = (events: ReadonlyArray<{ readonly type: string }>): string =>
  events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("")

const chunk = (delta: object, finish: string | null = null): object => ({
  id: "c1",
  object: "chat.completion.chunk",
  created: 1,
  model: "gpt-4o-mini",
  choices: [{ index: 0, delta, finish_reason: finish }]
})

const weather = { type: "object", properties: { city: { type: "string" } } }

/** Each asks with the system prompt "Be brief." and is answered with "Hello" and, where it can, a call of `weather`. */
export const modelTraffic: ReadonlyArray<ModelTraffic> = [
  {
    apiKind: "chat",
    host: "api.openai.com",
    path: "/v1/chat/completions",
    request: {
      model: "gpt-4o-mini",
      messages: [
        { role: "system", content: "Be brief." },
        {
          role: "user",
          content: [
            { type: "text", text: "Hi" },
            { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } }
          ]
        },
        {
          role: "assistant",
          content: null,
          tool_calls: [{ id: "t0", type: "function", function: { name: "weather", arguments: '{"city":"Oslo"}' } }]
        },
        { role: "tool", tool_call_id: "t0", content: "rain" }
      ],
      tools: [{ type: "function", function: { name: "weather", parameters: weather } }],
      temperature: 0.5
    },
    answer: {
      id: "c1",
      object: "chat.completion",
      created: 1,
      model: "gpt-4o-mini",
      choices: [
        {
          index: 0,
          message: {
            role: "assistant",
            content: "Hello",
            tool_calls: [{ id: "t1", type: "function", function: { name: "weather", arguments: '{"city":"Rome"}' } }]
          },
          finish_reason: "tool_calls"
        }
      ],
      usage: {
        prompt_tokens: 100,
        completion_tokens: 20,
        total_tokens: 120,
        prompt_tokens_details: { cached_tokens: 64 }
      }
    },
    stream: {
      type: "text/event-stream",
      body: sse([
        chunk({ role: "assistant", content: "Hel" }),
        chunk({ content: "lo" }),
        chunk({
          tool_calls: [{ index: 0, id: "t1", type: "function", function: { name: "weather", arguments: '{"city"' } }]
        }),
        chunk({ tool_calls: [{ index: 0, function: { arguments: ':"Rome"}' } }] }),
        chunk({}, "tool_calls"),
        {
          id: "c1",
          object: "chat.completion.chunk",
          created: 1,
          model: "gpt-4o-mini",
          choices: [],
          usage: {
            prompt_tokens: 100,
            completion_tokens: 20,
            total_tokens: 120,
            prompt_tokens_details: { cached_tokens: 64 }
          }
        },
        "[DONE]"
      ])
    }
  },
  {
    apiKind: "completions",
    host: "api.openai.com",
    path: "/v1/completions",
    request: { model: "gpt-3.5-turbo-instruct", prompt: "Hi" },
    answer: {
      id: "c1",
      object: "text_completion",
      created: 1,
      model: "gpt-3.5-turbo-instruct",
      choices: [{ index: 0, text: "Hello", finish_reason: "stop", logprobs: null }],
      usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
    },
    stream: {
      type: "text/event-stream",
      body: sse([
        {
          id: "c1",
          object: "text_completion",
          created: 1,
          model: "m",
          choices: [{ index: 0, text: "Hel", finish_reason: null }]
        },
        {
          id: "c1",
          object: "text_completion",
          created: 1,
          model: "m",
          choices: [{ index: 0, text: "lo", finish_reason: "stop" }]
        },
        {
          id: "c1",
          object: "text_completion",
          created: 1,
          model: "m",
          choices: [],
          usage: { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 }
        },
        "[DONE]"
      ])
    }
  },
  {
    apiKind: "messages",
    host: "api.anthropic.com",
    path: "/v1/messages?beta=true",
    request: {
      model: "claude-sonnet-4-5",
      max_tokens: 100,
      system: [{ type: "text", text: "Be brief.", cache_control: { type: "ephemeral" } }],
      tools: [{ name: "weather", input_schema: weather }],
      messages: [
        { role: "user", content: "Hi" },
        {
          role: "assistant",
          content: [
            { type: "thinking", thinking: "Hm.", signature: "c2ln" },
            { type: "tool_use", id: "t0", name: "weather", input: { city: "Oslo" } }
          ]
        },
        { role: "user", content: [{ type: "tool_result", tool_use_id: "t0", content: "rain" }] }
      ]
    },
    answer: {
      id: "m1",
      type: "message",
      role: "assistant",
      model: "claude-sonnet-4-5",
      content: [
        { type: "thinking", thinking: "Hm.", signature: "c2ln" },
        { type: "text", text: "Hello" },
        { type: "tool_use", id: "t1", name: "weather", input: { city: "Rome" } }
      ],
      stop_reason: "tool_use",
      stop_sequence: null,
      usage: { input_tokens: 16, cache_read_input_tokens: 64, cache_creation_input_tokens: 20, output_tokens: 20 }
    },
    stream: {
      type: "text/event-stream; charset=utf-8",
      body: named([
        {
          type: "message_start",
          message: {
            id: "m1",
            type: "message",
            role: "assistant",
            model: "claude-sonnet-4-5",
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { input_tokens: 16, cache_read_input_tokens: 64, cache_creation_input_tokens: 20, output_tokens: 1 }
          }
        } as never,
        {
          type: "content_block_start",
          index: 0,
          content_block: { type: "thinking", thinking: "", signature: "" }
        } as never,
        { type: "content_block_delta", index: 0, delta: { type: "thinking_delta", thinking: "Hm." } } as never,
        { type: "content_block_delta", index: 0, delta: { type: "signature_delta", signature: "c2ln" } } as never,
        { type: "content_block_stop", index: 0 } as never,
        { type: "content_block_start", index: 1, content_block: { type: "text", text: "" } } as never,
        { type: "content_block_delta", index: 1, delta: { type: "text_delta", text: "Hello" } } as never,
        { type: "content_block_stop", index: 1 } as never,
        {
          type: "content_block_start",
          index: 2,
          content_block: { type: "tool_use", id: "t1", name: "weather", input: {} }
        } as never,
        {
          type: "content_block_delta",
          index: 2,
          delta: { type: "input_json_delta", partial_json: '{"city":"Rome"}' }
        } as never,
        { type: "content_block_stop", index: 2 } as never,
        {
          type: "message_delta",
          delta: { stop_reason: "tool_use", stop_sequence: null },
          usage: { output_tokens: 20 }
        } as never,
        { type: "message_stop" }
      ])
    }
  },
  {
    apiKind: "responses",
    host: "api.openai.com",
    path: "/v1/responses",
    request: {
      model: "gpt-5",
      instructions: "Be brief.",
      input: [
        { role: "user", content: [{ type: "input_text", text: "Hi" }] },
        { type: "function_call", call_id: "t0", name: "weather", arguments: '{"city":"Oslo"}' },
        { type: "function_call_output", call_id: "t0", output: "rain" }
      ],
      tools: [{ type: "function", name: "weather", parameters: weather }]
    },
    answer: {
      id: "r1",
      object: "response",
      created_at: 1,
      status: "completed",
      model: "gpt-5",
      output: [
        {
          type: "message",
          id: "i1",
          role: "assistant",
          status: "completed",
          content: [{ type: "output_text", text: "Hello", annotations: [] }]
        },
        {
          type: "function_call",
          id: "i2",
          call_id: "t1",
          name: "weather",
          arguments: '{"city":"Rome"}',
          status: "completed"
        }
      ],
      usage: {
        input_tokens: 100,
        output_tokens: 20,
        total_tokens: 120,
        input_tokens_details: { cached_tokens: 64 },
        output_tokens_details: { reasoning_tokens: 0 }
      }
    },
    stream: {
      type: "text/event-stream",
      body: named([
        {
          type: "response.created",
          response: { id: "r1", object: "response", created_at: 1, status: "in_progress", model: "gpt-5", output: [] }
        } as never,
        {
          type: "response.output_item.added",
          output_index: 0,
          item: { type: "message", id: "i1", role: "assistant", status: "in_progress", content: [] }
        } as never,
        {
          type: "response.content_part.added",
          item_id: "i1",
          output_index: 0,
          content_index: 0,
          part: { type: "output_text", text: "", annotations: [] }
        } as never,
        {
          type: "response.output_text.delta",
          item_id: "i1",
          output_index: 0,
          content_index: 0,
          delta: "Hello"
        } as never,
        { type: "response.output_text.done", item_id: "i1", output_index: 0, content_index: 0, text: "Hello" } as never,
        {
          type: "response.output_item.done",
          output_index: 0,
          item: {
            type: "message",
            id: "i1",
            role: "assistant",
            status: "completed",
            content: [{ type: "output_text", text: "Hello", annotations: [] }]
          }
        } as never,
        {
          type: "response.output_item.added",
          output_index: 1,
          item: {
            type: "function_call",
            id: "i2",
            call_id: "t1",
            name: "weather",
            arguments: "",
            status: "in_progress"
          }
        } as never,
        {
          type: "response.function_call_arguments.delta",
          item_id: "i2",
          output_index: 1,
          delta: '{"city":"Rome"}'
        } as never,
        {
          type: "response.output_item.done",
          output_index: 1,
          item: {
            type: "function_call",
            id: "i2",
            call_id: "t1",
            name: "weather",
            arguments: '{"city":"Rome"}',
            status: "completed"
          }
        } as never,
        {
          type: "response.completed",
          response: {
            id: "r1",
            object: "response",
            created_at: 1,
            status: "completed",
            model: "gpt-5",
            output: [
              {
                type: "message",
                id: "i1",
                role: "assistant",
                status: "completed",
                content: [{ type: "output_text", text: "Hello", annotations: [] }]
              },
              {
                type: "function_call",
                id: "i2",
                call_id: "t1",
                name: "weather",
                arguments: '{"city":"Rome"}',
                status: "completed"
              }
            ],
            usage: {
              input_tokens: 100,
              output_tokens: 20,
              total_tokens: 120,
              input_tokens_details: { cached_tokens: 64 }
            }
          }
        } as never
      ])
    }
  },
  {
    apiKind: "gemini",
    host: "generativelanguage.googleapis.com",
    path: "/v1beta/models/gemini-2.5-flash:generateContent?key=AIzaSyA-secret-of-somebody-0123456789",
    request: {
      systemInstruction: { parts: [{ text: "Be brief." }] },
      contents: [
        { role: "user", parts: [{ text: "Hi" }] },
        { role: "model", parts: [{ functionCall: { name: "weather", args: { city: "Oslo" } } }] },
        { role: "user", parts: [{ functionResponse: { name: "weather", response: { result: "rain" } } }] }
      ],
      tools: [{ functionDeclarations: [{ name: "weather", parameters: weather }] }]
    },
    answer: {
      candidates: [
        {
          content: {
            role: "model",
            parts: [{ text: "Hello" }, { functionCall: { name: "weather", args: { city: "Rome" } } }]
          },
          finishReason: "STOP",
          index: 0
        }
      ],
      usageMetadata: {
        promptTokenCount: 100,
        candidatesTokenCount: 20,
        totalTokenCount: 120,
        cachedContentTokenCount: 64
      },
      modelVersion: "gemini-2.5-flash"
    },
    stream: {
      path: "/v1beta/models/gemini-2.5-flash:streamGenerateContent",
      type: "application/json",
      body: JSON.stringify([
        {
          candidates: [{ content: { role: "model", parts: [{ text: "Hel" }] }, index: 0 }],
          modelVersion: "gemini-2.5-flash"
        },
        {
          candidates: [
            {
              content: {
                role: "model",
                parts: [{ text: "lo" }, { functionCall: { name: "weather", args: { city: "Rome" } } }]
              },
              finishReason: "STOP",
              index: 0
            }
          ],
          usageMetadata: {
            promptTokenCount: 100,
            candidatesTokenCount: 20,
            totalTokenCount: 120,
            cachedContentTokenCount: 64
          },
          modelVersion: "gemini-2.5-flash"
        }
      ])
    }
  },
  {
    apiKind: "ollama",
    host: "localhost:11434",
    path: "/api/chat",
    request: {
      model: "llama3.2",
      stream: false,
      messages: [
        { role: "system", content: "Be brief." },
        { role: "user", content: "Hi" }
      ]
    },
    answer: {
      model: "llama3.2",
      created_at: "2026-11-24T10:00:00Z",
      message: {
        role: "assistant",
        content: "Hello",
        tool_calls: [{ function: { name: "weather", arguments: { city: "Rome" } } }]
      },
      done: true,
      done_reason: "stop",
      prompt_eval_count: 100,
      eval_count: 20
    },
    stream: {
      type: "application/x-ndjson",
      body: [
        {
          model: "llama3.2",
          created_at: "2026-11-24T10:00:00Z",
          message: { role: "assistant", content: "Hel" },
          done: false
        },
        {
          model: "llama3.2",
          created_at: "2026-11-24T10:00:00Z",
          message: {
            role: "assistant",
            content: "lo",
            tool_calls: [{ function: { name: "weather", arguments: { city: "Rome" } } }]
          },
          done: false
        },
        {
          model: "llama3.2",
          created_at: "2026-11-24T10:00:00Z",
          message: { role: "assistant", content: "" },
          done: true,
          done_reason: "stop",
          prompt_eval_count: 100,
          eval_count: 20
        }
      ]
        .map((line) => `${JSON.stringify(line)}\n`)
        .join("")
    }
  },
  {
    apiKind: "embeddings",
    host: "api.openai.com",
    path: "/v1/embeddings",
    request: { model: "text-embedding-3-small", input: ["Hi", "Ho"] },
    answer: {
      object: "list",
      model: "text-embedding-3-small",
      data: [{ object: "embedding", index: 0, embedding: [0.5, 0.25] }],
      usage: { prompt_tokens: 100, total_tokens: 100 }
    }
  }
]
