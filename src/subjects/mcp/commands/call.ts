/** `gateway mcp call`: one call of a tool over the gateway's own `/mcp`, with what the other commands log in with. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { readInput } from "../../../cli/asking/input.ts"
import { BadArgument, CommandFailed } from "../../../cli/Failure.ts"
import { refusalOf } from "../../../cli/gateway/Advice.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Output from "../../../cli/output/Output.ts"

const maxInputBytes = 4 * 1_048_576

const Block = Schema.Struct({ type: Schema.String, text: Schema.optional(Schema.String) })

/** Result with the members that people read; all of it is kept. */
const Result = Schema.Struct(
  {
    content: Schema.optionalWith(Schema.Array(Schema.Unknown), { default: () => [] }),
    isError: Schema.optionalWith(Schema.Boolean, { default: () => false })
  },
  { key: Schema.String, value: Schema.Unknown }
)

const Answer = Schema.Struct({
  result: Schema.optional(Result),
  error: Schema.optional(Schema.Struct({ message: Schema.String }))
})

const parsed = (text: string): Effect.Effect<object, BadArgument> => {
  const wrong = new BadArgument({
    message: "<json>: it is no JSON object.",
    hint: `Example: gateway mcp call gateway_list_combos '{"limit":5}'`
  })
  return Effect.try({ try: (): unknown => JSON.parse(text), catch: () => wrong }).pipe(
    Effect.filterOrFail(
      (value): value is { readonly [key: string]: unknown } => Predicate.isRecord(value),
      () => wrong
    )
  )
}

/** Reads the tool's input: an argument, standard input for `-`, or none. */
const inputOf = (given: Option.Option<string>): Effect.Effect<object, BadArgument> =>
  Option.match(given, {
    onNone: () => Effect.succeed({}),
    onSome: (text) =>
      text === "-" ? Effect.flatMap(readInput(maxInputBytes), (bytes) => parsed(bytes.toString("utf8"))) : parsed(text)
  })

const shown = (block: unknown): string => {
  if (!Schema.is(Block)(block)) return ""
  return block.text ?? `[${block.type}; -o json shows it]`
}

const tool = Args.text({ name: "tool" }).pipe(Args.withDescription("Its name, as 'gateway mcp tools' has it."))
const input = Args.text({ name: "json" }).pipe(
  Args.withDescription("What it is given, as a JSON object; '-' reads standard input. Default: {}."),
  Args.optional
)

export const mcpCall = Command.make("call", { tool, input, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const params = { name: given.tool, arguments: yield* inputOf(given.input) }
    const to = yield* Client.target(given)
    const request = HttpClientRequest.post(`${to.url}/mcp`).pipe(
      HttpClientRequest.setHeader("accept", "application/json"),
      HttpClientRequest.bodyUnsafeJson({ jsonrpc: "2.0", id: 1, method: "tools/call", params })
    )
    const { answer, facts, status } = yield* Client.httpClient(to)
      .execute(request)
      .pipe(
        Effect.flatMap((response) =>
          Effect.map(response.json, (json) => ({
            answer: Schema.decodeUnknownOption(Answer)(json),
            facts: Client.errorFactsOf(response, json),
            status: response.status
          }))
        ),
        // The longest that a server may be given, and more.
        Client.orExplain(to, "1 hour")
      )
    const { error, result } = Option.getOrElse(answer, () => ({ error: undefined, result: undefined }))
    if (status === 401 || status === 403) {
      const refusal = refusalOf(facts, to.apiKey !== null)
      return yield* Client.failureOf(to, refusal, error?.message ?? `The gateway at ${to.url} refused the call.`)
    }
    if (error !== undefined) return yield* new BadArgument({ message: error.message, hint: "See 'gateway mcp tools'." })
    if (result === undefined)
      return yield* new CommandFailed({ message: `${to.url} answered with the status ${status}.` })
    const text = result.content.map(shown).filter(Boolean).join("\n")
    if (result.isError) return yield* new CommandFailed({ message: text === "" ? "The tool failed." : text })
    yield* Output.result({ schema: Schema.Unknown, value: result, text: Output.print(text), name: given.tool })
  })
)
