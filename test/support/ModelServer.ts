/** A fake upstream on the wire of chat completions that does as it is asked: calls tools, keeps limits, answers in JSON, knows one model and one key. */
import * as Effect from "effect/Effect"
import * as Fake from "./FakeUpstream.ts"

interface Asked {
  readonly model?: string
  readonly stream?: boolean
  readonly max_tokens?: number
  readonly max_completion_tokens?: number
  readonly messages?: ReadonlyArray<{ readonly role: string }>
  readonly tools?: ReadonlyArray<{ readonly function: { readonly name: string } }>
  readonly response_format?: { readonly type: string }
  readonly stream_options?: { readonly include_usage?: boolean }
}

/** Fewer tokens than this cut the answer. */
const wholeAnswerTokens = 20

const call = (name: string): Fake.FakeToolCall => ({ id: "call_fake", name, arguments: '{"city":"Paris"}' })

const answerOf = ({ messages = [], response_format, tools = [] }: Asked): Fake.FakeAnswer => {
  const [tool] = tools
  if (tool !== undefined && messages.at(-1)?.role === "user") return { toolCalls: [call(tool.function.name)] }
  return { text: response_format?.type === "json_object" ? '{"hello":"world"}' : "Hello there" }
}

const isCut = ({ max_completion_tokens, max_tokens }: Asked): boolean =>
  (max_completion_tokens ?? max_tokens ?? wholeAnswerTokens) < wholeAnswerTokens

const refusal = (status: number, message: string): Fake.Answer =>
  Fake.json({ error: { message, type: "invalid_request_error", code: null, param: null } }, { status })

const streamOf = (asked: Asked): Fake.Answer => {
  const { text, ...rest } = answerOf(asked)
  const events = Fake.chatStream(text === undefined ? [] : text.split(" "), rest)
  const hasUsage = asked.stream_options?.include_usage === true
  return Fake.sse(hasUsage ? events : events.filter((event) => !event.includes('"usage"')))
}

const wholeOf = (asked: Asked): Fake.Answer => {
  const body = Fake.chatCompletion(answerOf(asked))
  const choices = isCut(asked) ? body.choices.map((choice) => ({ ...choice, finish_reason: "length" })) : body.choices
  return Fake.json({ ...body, choices })
}

const decode = (text: string): Asked | null => {
  try {
    return JSON.parse(text) as Asked
  } catch {
    return null
  }
}

/** Starts it; `model` is the one it has, `key` the one it takes. */
export const start = (model: string, key: string) =>
  Effect.tap(Fake.start, (upstream) =>
    Effect.sync(() => {
      const checked =
        (answer: (body: string) => Fake.Answer): Fake.Answer =>
        (response, request) =>
          (request.headers.authorization === `Bearer ${key}`
            ? answer(request.body)
            : refusal(401, "The key is wrong."))(response, request)
      const list = { object: "list", data: [{ id: model, object: "model", created: 1, owned_by: "fake" }] }
      upstream.lists(checked(() => Fake.json(list)))
      const completions = checked((body) => {
        const asked = decode(body)
        if (asked === null) return refusal(400, "The body is no JSON.")
        if (asked.model !== model) return refusal(404, "There is no such model.")
        if (asked.messages === undefined) return refusal(400, "There are no messages.")
        return asked.stream === true ? streamOf(asked) : wholeOf(asked)
      })
      const nothing = refusal(404, "There is no such path.")
      upstream.always((response, request) =>
        (request.url.endsWith("/chat/completions") ? completions : nothing)(response, request)
      )
    })
  )
