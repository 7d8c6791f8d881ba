/** How providers refuse: a quota that is used up, a conversation that does not fit, a prompt that was flagged. */
import type { WireName } from "../../src/contract/domain/Wire.ts"
import type { Answer } from "../support/FakeUpstream.ts"
import * as Fake from "../support/FakeUpstream.ts"
import { data, event } from "./upstream/Words.ts"

export const kinds = ["quota", "overflow", "flagged"] as const
export type Kind = (typeof kinds)[number]

export interface Asked {
  readonly stream: boolean
  /** Of the prompt. */
  readonly tokens: number
  /** The most tokens the model takes. */
  readonly limit: number
}

export interface Refusal {
  /** Tells it from the others of its wire and kind. */
  readonly name: string
  readonly answer: (asked: Asked) => Answer
}

const status =
  (code: number, body: unknown): Refusal["answer"] =>
  () =>
    Fake.json(body, { status: code })

const openAi = (type: string, code: string, message: string) => ({ error: { message, type, param: null, code } })
const anthropic = (type: string, message: string) => ({ type: "error", error: { type, message }, request_id: "req_1" })
const google = (code: number, status: string, message: string, details?: ReadonlyArray<object>) => ({
  error: { code, message, status, ...(details === undefined ? {} : { details }) }
})

/** https://platform.openai.com/docs/guides/error-codes/api-errors */
const openAiQuota: Refusal = {
  name: "429 insufficient_quota",
  answer: status(
    429,
    openAi(
      "insufficient_quota",
      "insufficient_quota",
      "You exceeded your current quota, please check your plan and billing details. For more information on this error, read the docs: https://platform.openai.com/docs/guides/error-codes/api-errors."
    )
  )
}

const flaggedText =
  "Invalid prompt: your prompt was flagged as potentially violating our usage policy. Please try again with a different prompt."

const openAiFlagged: Refusal = {
  name: "400 invalid_prompt",
  answer: status(400, openAi("invalid_request_error", "invalid_prompt", flaggedText))
}

/** https://platform.openai.com/docs/api-reference/responses-streaming/response/failed */
const failedResponse =
  (code: string, message: string): Refusal["answer"] =>
  ({ stream }) => {
    if (!stream) return Fake.json(openAi("invalid_request_error", code, message), { status: 400 })
    const response = { id: "resp_1", object: "response", created_at: 1_790_000_000, model: "scripted", output: [] }
    return Fake.sse([
      event({
        type: "response.created",
        sequence_number: 0,
        response: { ...response, status: "in_progress", error: null }
      }),
      event({
        type: "response.failed",
        sequence_number: 1,
        response: { ...response, status: "failed", error: { code, message } }
      })
    ])
  }

/** https://docs.anthropic.com/en/docs/test-and-evaluate/strengthen-guardrails/handle-streaming-refusals */
const anthropicRefusal: Refusal["answer"] = ({ stream }) => {
  const message = { id: "msg_1", type: "message", role: "assistant", model: "scripted", content: [] }
  const usage = { input_tokens: 412, output_tokens: 1 }
  const stop = { stop_reason: "refusal", stop_sequence: null }
  if (!stream) return Fake.json({ ...message, ...stop, usage })
  return Fake.sse([
    event({ type: "message_start", message: { ...message, stop_reason: null, stop_sequence: null, usage } }),
    event({ type: "message_delta", delta: stop, usage: { output_tokens: 1 } }),
    event({ type: "message_stop" })
  ])
}

/** https://ai.google.dev/api/generate-content#PromptFeedback */
const geminiBlocked: Refusal["answer"] = ({ stream }) => {
  const answer = {
    promptFeedback: { blockReason: "PROHIBITED_CONTENT" },
    usageMetadata: { promptTokenCount: 412, totalTokenCount: 412 },
    modelVersion: "gemini-3-scripted",
    responseId: "blocked-1"
  }
  return stream ? Fake.sse([data(answer)]) : Fake.json(answer)
}

/** https://platform.openai.com/docs/api-reference/chat-streaming: a filter of the provider left nothing of the answer. */
const chatFiltered: Refusal["answer"] = ({ stream }) => {
  const head = { id: "chatcmpl-1", created: 1_790_000_000, model: "scripted" }
  const usage = { prompt_tokens: 412, completion_tokens: 0, total_tokens: 412 }
  const message = { role: "assistant", content: "" }
  if (!stream) {
    const choices = [{ index: 0, message, finish_reason: "content_filter" }]
    return Fake.json({ ...head, object: "chat.completion", choices, usage })
  }
  const chunk = (choices: ReadonlyArray<object>, more: object = {}) =>
    data({ ...head, object: "chat.completion.chunk", choices, ...more })
  return Fake.sse([
    chunk([{ index: 0, delta: message, finish_reason: null }]),
    chunk([{ index: 0, delta: {}, finish_reason: "content_filter" }]),
    chunk([], { usage }),
    "data: [DONE]\n\n"
  ])
}

/** The first of a kind is the usual one. */
export const refusals: Readonly<Record<WireName, Readonly<Record<Kind, ReadonlyArray<Refusal>>>>> = {
  chat: {
    quota: [openAiQuota],
    overflow: [
      {
        name: "400 context_length_exceeded",
        answer: ({ limit, tokens }) =>
          Fake.json(
            openAi(
              "invalid_request_error",
              "context_length_exceeded",
              `This model's maximum context length is ${limit} tokens. However, your messages resulted in ${tokens} tokens. Please reduce the length of the messages.`
            ),
            { status: 400 }
          )
      }
    ],
    flagged: [openAiFlagged, { name: "content_filter", answer: chatFiltered }]
  },
  responses: {
    quota: [openAiQuota],
    overflow: [
      {
        name: "response.failed",
        answer: failedResponse(
          "context_length_exceeded",
          "Your input exceeds the context window of this model. Please adjust your input and try again."
        )
      }
    ],
    flagged: [openAiFlagged, { name: "response.failed", answer: failedResponse("invalid_prompt", flaggedText) }]
  },
  // https://docs.anthropic.com/en/api/errors
  messages: {
    quota: [
      {
        name: "400 credit balance",
        answer: status(
          400,
          anthropic(
            "invalid_request_error",
            "Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."
          )
        )
      }
    ],
    overflow: [
      {
        name: "400 prompt is too long",
        answer: ({ limit, tokens }) =>
          Fake.json(anthropic("invalid_request_error", `prompt is too long: ${tokens} tokens > ${limit} maximum`), {
            status: 400
          })
      }
    ],
    flagged: [
      {
        name: "400 content filtering",
        answer: status(400, anthropic("invalid_request_error", "Output blocked by content filtering policy"))
      },
      { name: "stop_reason refusal", answer: anthropicRefusal }
    ]
  },
  gemini: {
    quota: [
      {
        name: "429 of a day",
        answer: status(
          429,
          google(
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota, please check your plan and billing details. For more information on this error, head to: https://ai.google.dev/gemini-api/docs/rate-limits.",
            [
              {
                "@type": "type.googleapis.com/google.rpc.QuotaFailure",
                violations: [
                  {
                    quotaMetric: "generativelanguage.googleapis.com/generate_content_free_tier_requests",
                    quotaId: "GenerateRequestsPerDayPerProjectPerModel-FreeTier",
                    quotaDimensions: { location: "global", model: "gemini-3-scripted" },
                    quotaValue: "250"
                  }
                ]
              },
              {
                "@type": "type.googleapis.com/google.rpc.Help",
                links: [
                  {
                    description: "Learn more about Gemini API quotas",
                    url: "https://ai.google.dev/gemini-api/docs/rate-limits"
                  }
                ]
              },
              { "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay: "38s" }
            ]
          )
        )
      }
    ],
    overflow: [
      {
        name: "400 token count",
        answer: ({ limit, tokens }) =>
          Fake.json(
            google(
              400,
              "INVALID_ARGUMENT",
              `The input token count (${tokens}) exceeds the maximum number of tokens allowed (${limit}).`
            ),
            { status: 400 }
          )
      }
    ],
    flagged: [{ name: "promptFeedback", answer: geminiBlocked }]
  },
  // A local runner has no quota and no policy.
  ollama: {
    quota: [],
    overflow: [
      {
        name: "400 context size",
        answer: ({ limit, tokens }) =>
          Fake.json(
            {
              error: `request (${tokens} tokens) exceeds the available context size (${limit} tokens), try increasing it`
            },
            { status: 400 }
          )
      }
    ],
    flagged: []
  }
}
