/** Asks the gateway for a simulation or a replay, and shows how far it is until it is over. Ctrl-C leaves, which ends it at the gateway, too. */
import * as Args from "@effect/cli/Args"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { BadArgument, CommandFailed } from "../../../cli/Failure.ts"
import { readJson } from "../../../cli/flags/JsonInput.ts"
import type * as Client from "../../../cli/gateway/Client.ts"
import * as Inference from "../../../cli/gateway/Inference.ts"
import { loadModule } from "../../../cli/lazy.ts"
import { withProgress } from "../../../cli/output/Progress.ts"

export const comboFile = Options.text("combo-file").pipe(
  Options.withDescription(
    "File with a combo that is not stored, as JSON, or - for standard input: it is tried as if it were."
  ),
  Options.optional
)

export const compareWith = Options.text("compare-with").pipe(
  Options.withDescription("Another combo or model id that does the same, for comparison."),
  Options.optional
)

/** A model id that a combo of a file may stand in for. */
export const modelOrFile = (name: string, description: string) =>
  Args.text({ name }).pipe(Args.withDescription(description), Args.optional)

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Takes a combo as 'gateway combo show --json' writes it, too: what only the gateway sets is left out. */
const comboIn = (read: unknown): unknown => {
  const combo = isRecord(read) && isRecord(read["combo"]) ? read["combo"] : read
  if (!isRecord(combo)) return combo
  const { createdAt: _created, updatedAt: _updated, ...given } = combo
  return given
}

/** The members of a body that say what is tried. `what`: the flag or argument of the model. */
export const triedOf = Effect.fnUntraced(function* (
  given: {
    readonly model: Option.Option<string>
    readonly comboFile: Option.Option<string>
    readonly compareWith?: Option.Option<string>
  },
  what: string
) {
  if (Option.isNone(given.model) && Option.isNone(given.comboFile)) {
    return yield* new BadArgument({
      message: `${what} is missing.`,
      hint: "Give it, or a combo that is not stored with --combo-file."
    })
  }
  return {
    model: Option.getOrUndefined(given.model),
    combo: Option.isSome(given.comboFile) ? comboIn(yield* readJson("--combo-file", given.comboFile.value)) : undefined,
    compareWith: Option.getOrUndefined(given.compareWith ?? Option.none<string>())
  }
})

const Progress = Schema.parseJson(Schema.Struct({ done: Schema.Number, total: Schema.Number }))

const maxEventBytes = 16 * 1_048_576

interface Trial<A, I> {
  readonly path: "simulate" | "replay"
  readonly payload: unknown
  readonly schema: Schema.Schema<A, I>
  readonly label: string
  /** Requests of all runs; null: the gateway has to count them. */
  readonly total: number | null
}

const brokeOff = (to: Client.Target) =>
  new CommandFailed({ message: `The answer of ${to.url} broke off.`, hint: "Run the command again." })

const words = ({ bytes, totalBytes }: { readonly bytes: number; readonly totalBytes: number | null }): string =>
  totalBytes === null ? `${bytes} requests` : `${bytes} of ${totalBytes} requests`

export const ask = <A, I>(to: Client.Target, { label, path, payload, schema, total }: Trial<A, I>) =>
  withProgress(
    label,
    total,
    (report) =>
      Effect.gen(function* () {
        const request = HttpClientRequest.post(`${to.url}/api/routing/${path}`, {
          headers: { accept: "text/event-stream" }
        })
        const response = yield* Inference.ask(to, HttpClientRequest.bodyUnsafeJson(request, payload), null)
        const { makeSseScanner } = yield* loadModule(() => import("../../../wire/sse/SseScanner.ts"))
        const scanner = makeSseScanner(maxEventBytes)
        let last: { readonly event: string; readonly data: string } | null = null
        yield* response.stream.pipe(
          Stream.runForEach((chunk) =>
            Effect.sync(() => {
              for (const { data, event } of scanner.push(
                Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
              )) {
                if (event !== "progress") last = { event: event ?? "", data }
                else Option.map(Schema.decodeOption(Progress)(data), ({ done }) => report(done))
              }
            })
          ),
          Effect.mapError(() => brokeOff(to))
        )
        return yield* endOf(to, schema, last)
      }),
    words
  )

/** The answer of the last event, or the failure that it is. */
const endOf = <A, I>(
  to: Client.Target,
  schema: Schema.Schema<A, I>,
  last: { readonly event: string; readonly data: string } | null
): Effect.Effect<A, CommandFailed> => {
  if (last === null) return Effect.fail(brokeOff(to))
  if (last.event === "error") return Effect.fail(new CommandFailed({ message: Inference.messageIn(last.data, 500) }))
  return Effect.mapError(Schema.decode(Schema.parseJson(schema))(last.data), () => brokeOff(to))
}
