/** Tools that ask models and search the web in the caller's name: with its rights, limits, usage row and cost. */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { InnerAnswer, InnerRequests } from "../../../plane/InnerRequests.ts"
import { field } from "../../../kernel/Documented.ts"
import type { Tool, ToolCall } from "../../../agents/mcp/Tool.ts"
import {
  isArray,
  type Json,
  type JsonObject,
  numberOr,
  objectOr,
  parseJson,
  stringOr
} from "../../../wire/json/Json.ts"
import type { Plane } from "../../management/Management.ts"
import { askedOf, optional, refusedBy, schemaTool, ToolFailure } from "../SchemaTool.ts"
import { errorTextOf } from "../EndpointTool.ts"

const Model = Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(1_000))
const MaxTokens = Schema.Int.pipe(Schema.between(1, 1_000_000))

const Message = Schema.Struct(
  { role: field(Schema.String, "Who says it: `system`, `user`, `assistant` or `tool`.") },
  { key: Schema.String, value: Schema.Unknown }
)

const Usage = Schema.Struct({
  inputTokens: field(Schema.NullOr(Schema.Number), "Tokens of the prompt; null: unknown."),
  outputTokens: field(Schema.NullOr(Schema.Number), "Tokens of the answer; null: unknown.")
})

const Answer = Schema.Struct({
  content: field(Schema.String, "The text of the answer."),
  finishReason: field(Schema.NullOr(Schema.String), "Why it ended; null: unknown."),
  toolCalls: field(Schema.Array(Schema.Unknown), "Calls of tools that the model asks for; else empty."),
  model: field(Schema.NullOr(Schema.String), "The model as its provider names it; null: unknown."),
  requestId: field(Schema.String, "For gateway_explain_route and the log."),
  latencyMs: field(Schema.Number, "Milliseconds it took."),
  usage: field(Usage, "What it used.")
})

type Ask = typeof InnerRequests.Service.ask

const path = "/mcp"

const bodyOf = ({ body }: InnerAnswer): JsonObject => objectOr(parseJson(body))

const textOf = (content: Json | undefined): string =>
  isArray(content) ? content.map((part) => stringOr(objectOr(part)["text"]) ?? "").join("") : (stringOr(content) ?? "")

const readAnswer = (answer: InnerAnswer) => {
  const { choices, model, usage } = bodyOf(answer)
  const choice = objectOr(isArray(choices) ? choices[0] : null)
  const message = objectOr(choice["message"])
  const calls = message["tool_calls"]
  const used = objectOr(usage)
  return {
    content: textOf(message["content"]),
    finishReason: stringOr(choice["finish_reason"]),
    toolCalls: isArray(calls) ? calls : [],
    model: stringOr(model),
    requestId: answer.requestId,
    latencyMs: Math.round(answer.latencyMs),
    usage: { inputTokens: numberOr(used["prompt_tokens"]), outputTokens: numberOr(used["completion_tokens"]) }
  }
}

const failureOf = (answer: InnerAnswer): string => errorTextOf(answer.status, bodyOf(answer))

const routeRequest = (ask: Ask): Tool =>
  schemaTool({
    name: "route_request",
    category: "chat",
    title: "Ask a model",
    description:
      "Sends a conversation to a model, a combo or `auto`, as POST /v1/chat/completions does: with failover, limits and cost. Give `prompt`, or `messages`.",
    scopes: ["execute:completions"],
    effect: "write",
    isOpenWorld: true,
    input: Schema.Struct({
      model: field(Model, "A model id, the name of a combo, or `auto`."),
      prompt: field(optional(Schema.String.pipe(Schema.minLength(1))), "What the user says."),
      messages: field(
        optional(Schema.Array(Message).pipe(Schema.minItems(1), Schema.maxItems(1_000))),
        "The whole conversation."
      ),
      maxTokens: field(optional(MaxTokens), "Most tokens of the answer."),
      temperature: field(optional(Schema.Number.pipe(Schema.between(0, 2))), "How much is left to chance."),
      options: field(
        optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
        "Other members of the request, such as `tools` or `response_format`."
      )
    }),
    output: Answer,
    run: ({ maxTokens, messages, model, options = {}, prompt, temperature }, { caller, progress }) =>
      Effect.gen(function* () {
        if ((messages === undefined) === (prompt === undefined)) {
          return yield* new ToolFailure({ message: "Give either 'prompt' or 'messages'.", isBadInput: true })
        }
        progress(0, 1, `Asking ${model}`)
        const answer = yield* ask({
          behalf: { principal: caller.principal, madeFor: "client", category: "chat" },
          path,
          body: {
            ...(options as JsonObject),
            model,
            messages: (messages ?? [{ role: "user", content: prompt }]) as unknown as Json,
            ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
            ...(temperature === undefined ? {} : { temperature }),
            stream: false
          }
        })
        progress(1, 1, "Answered")
        if (answer.status >= 400) return yield* refusedBy(answer.status, failureOf(answer))
        return readAnswer(answer)
      })
  })

const Tested = Schema.Struct({
  target: field(Schema.String, "What was asked."),
  ok: field(Schema.Boolean, "Whether it answered."),
  latencyMs: field(Schema.Number, "Milliseconds it took."),
  error: field(Schema.NullOr(Schema.String), "Why it did not answer; null: it did."),
  requestId: field(Schema.String, "For gateway_explain_route and the log.")
})

const mostTargets = 20
const testTokens = 16

const tested = (ask: Ask, call: ToolCall, target: string, prompt: string) =>
  Effect.map(
    ask({
      behalf: { principal: call.caller.principal, madeFor: "client", category: "chat" },
      path,
      body: { model: target, messages: [{ role: "user", content: prompt }], max_tokens: testTokens, stream: false }
    }),
    (answer): typeof Tested.Type => ({
      target,
      ok: answer.status < 400,
      latencyMs: Math.round(answer.latencyMs),
      error: answer.status < 400 ? null : failureOf(answer),
      requestId: answer.requestId
    })
  )

const testCombo = (ask: Ask, endpoints: Plane["ask"]): Tool =>
  schemaTool({
    name: "test_combo",
    category: "chat",
    title: "Ask every target of a combo",
    description: `Sends a short question to each target of a combo, one after the other, at most ${mostTargets}. It costs what the answers cost.`,
    scopes: ["execute:completions", "read:combos"],
    effect: "write",
    isOpenWorld: true,
    input: Schema.Struct({
      combo: field(Model, "Id or name of the combo."),
      prompt: field(optional(Schema.String.pipe(Schema.minLength(1), Schema.maxLength(10_000))), "What is asked.")
    }),
    output: Schema.Struct({
      combo: field(Schema.String, "The combo's name."),
      targets: field(Schema.Array(Tested), "Each target with how it did.")
    }),
    run: ({ combo, prompt = "Say hello in one word." }, call) =>
      Effect.gen(function* () {
        const { combos } = yield* askedOf(endpoints, call)("combos.list")
        const found = (isArray(combos) ? combos.map(objectOr) : []).find(
          ({ id, name }) => id === combo || name === combo
        )
        if (found === undefined) return yield* new ToolFailure({ message: `There is no combo '${combo}'.` })
        const targets = isArray(found["targets"]) ? found["targets"].map((one) => String(objectOr(one)["model"])) : []
        const asked = targets.slice(0, mostTargets)
        const results = yield* Effect.forEach(asked, (target, index) => {
          call.progress(index, asked.length, target)
          return tested(ask, call, target.replace(/^combo:/, ""), prompt)
        })
        return { combo: String(found["name"]), targets: results }
      })
  })

export const requestTools = (ask: Ask, endpoints: Plane["ask"]): ReadonlyArray<Tool> => [
  routeRequest(ask),
  testCombo(ask, endpoints)
]
