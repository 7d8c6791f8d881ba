/** `gateway inspect replay`: a captured request asked again; its answer is shown as it comes, or compared where its own server is asked. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import type * as HttpClientResponse from "@effect/platform/HttpClientResponse"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { ReplayRequest } from "../routes.ts"
import { parseJson } from "../../declared/Values.ts"
import { BadArgument, CommandFailed } from "../../../cli/Failure.ts"
import { body } from "../../../cli/flags/Flags.ts"
import { each, NamedAny, notOf } from "../../../cli/flags/Forms.ts"
import { boundedText } from "../../../cli/gateway/BoundedText.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Inference from "../../../cli/gateway/Inference.ts"
import { readJson } from "../../../cli/flags/JsonInput.ts"
import { loadModule } from "../../../cli/lazy.ts"
import { OutputFormat } from "../../../cli/output/Format.ts"
import * as Output from "../../../cli/output/Output.ts"
import { liveText } from "../../../cli/commands/use/chat/LiveText.ts"
import { replayDirect } from "./replayDirect.ts"
import { inspector, record } from "./rows.ts"
import type { AnswerReader } from "../../../observe/inspector/reading/AnswerText.ts"

const maxAnswerBytes = 64 * 1_048_576

const Result = Schema.Struct({
  replayOf: Schema.String,
  requestId: Schema.NullOr(Schema.String),
  provider: Schema.NullOr(Schema.String),
  model: Schema.NullOr(Schema.String),
  answer: Schema.NullOr(Schema.Unknown),
  events: Schema.Array(Schema.Unknown)
})

const flags = {
  record,
  model: Options.text("model").pipe(
    Options.withAlias("m"),
    Options.withDescription("The model to ask in place of the recorded one."),
    Options.optional
  ),
  body: Options.text("body").pipe(
    Options.withDescription("File with another JSON body, in the format of the request, or - for standard input."),
    Options.optional
  ),
  header: Options.text("header").pipe(
    Options.withDescription(
      "A header to send as name=value; may be given several times. Credentials are left out, but for --direct."
    ),
    Options.repeated,
    Options.withSchema(each(NamedAny, notOf("--header", "name=value"))),
    Options.map((pairs) => Object.fromEntries(pairs))
  ),
  direct: Options.boolean("direct").pipe(
    Options.withDescription(
      "Send it to its own server, not to the router, and compare the answers. A masked credential is asked for, or taken from the connection of that address."
    )
  ),
  path: Options.text("path").pipe(
    Options.withDescription("With --direct: the path with its query in place of the recorded one."),
    Options.optional
  ),
  connection: Options.text("connection").pipe(
    Options.withDescription("With --direct: the id of the connection whose credential is sent."),
    Options.optional
  ),
  ...Client.connection
}

const brokeOff = new CommandFailed({
  message: "The answer broke off.",
  hint: "'gateway logs' shows what happened to the request."
})

const typeOf = ({ headers }: HttpClientResponse.HttpClientResponse): string => headers["content-type"] ?? ""

/** Writes the text of an answer as it comes, and what it holds beside text below it. */
const show = (reader: AnswerReader, response: HttpClientResponse.HttpClientResponse) =>
  Effect.gen(function* () {
    const text = liveText()
    yield* response.stream.pipe(
      Stream.mapError(() => brokeOff),
      Stream.runForEach((chunk) => text.show(reader.push(chunk))),
      Effect.zipRight(Effect.suspend(() => text.show(reader.end()))),
      Effect.ensuring(text.finishLine)
    )
    yield* Effect.forEach(reader.beside(), Output.print, { discard: true })
    const problem = reader.problem()
    if (problem !== null) return yield* new CommandFailed({ message: problem, hint: brokeOff.hint ?? "" })
  })

export const inspectReplay = Command.make("replay", flags, (given) =>
  Effect.gen(function* () {
    if (given.direct) return yield* replayDirect(given)
    if (Option.isSome(given.path) || Option.isSome(given.connection)) {
      return yield* new BadArgument({ message: "--path and --connection go with --direct." })
    }
    const sent = Option.isSome(given.body) ? yield* readJson("--body", given.body.value) : undefined
    const wanted = {
      body: sent,
      model: Option.getOrUndefined(given.model),
      headers: Object.keys(given.header).length === 0 ? undefined : given.header
    }
    // Checked before anything is sent; what was typed goes on as it was.
    yield* body(ReplayRequest, wanted, { body: "--body", model: "--model", headers: "--header" })
    const to = yield* Client.target(given)
    const format = yield* OutputFormat
    const isText = format === "table" || format === "wide"
    const client = yield* inspector(to)
    const asked = yield* client.get({ path: { id: given.record }, urlParams: {} }).pipe(Client.orExplain(to))
    const path = `/api/tools/traffic-inspector/requests/${encodeURIComponent(given.record)}/replay`
    const response = yield* Inference.ask(
      to,
      HttpClientRequest.bodyUnsafeJson(HttpClientRequest.post(to.url + path), wanted),
      "'gateway inspect show' shows what was captured; --body sends another body."
    )
    const servedBy = Inference.servedBy(response)
    if (isText) {
      const { makeAnswerReader } = yield* loadModule(() => import("../../../observe/inspector/reading/AnswerText.ts"))
      yield* show(
        makeAnswerReader({ kind: asked.llm?.apiKind ?? null, path: asked.path, type: typeOf(response) }),
        response
      )
      const by = Inference.servedName(servedBy)
      return yield* Output.note(
        `Answered by ${by ?? "an unnamed model"}${servedBy.requestId === null ? "" : `, request ${servedBy.requestId}`}.`
      )
    }
    const text = yield* boundedText(to.url, response, maxAnswerBytes).pipe(
      Effect.catchTag("ResponseError", () => brokeOff)
    )
    const { rawEventsOf } = yield* loadModule(() => import("../../../observe/inspector/reading/Answer.ts"))
    const isStream = !typeOf(response).includes("application/json")
    yield* Output.result({
      schema: Result,
      value: {
        replayOf: given.record,
        requestId: servedBy.requestId,
        provider: servedBy.provider,
        model: servedBy.model,
        answer: isStream ? null : (parseJson(text) ?? text),
        events: isStream ? rawEventsOf(text, typeOf(response), Number.POSITIVE_INFINITY) : []
      },
      text: Effect.void,
      name: servedBy.requestId ?? given.record
    })
  }).pipe(Effect.scoped)
)
