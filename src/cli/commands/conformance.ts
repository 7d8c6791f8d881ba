/** `gateway conformance`: asks a gateway or a provider what the wires' published contracts promise, and says per row what it keeps. */
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as HttpClient from "@effect/platform/HttpClient"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { WireName } from "../../contract/domain/Wire.ts"
import { cases } from "../conformance/cases.ts"
import { run, type Row, type Server } from "../conformance/run.ts"
import { AlreadyReported, BadArgument } from "../Failure.ts"
import * as Client from "../gateway/Client.ts"
import * as NodeHttp from "../gateway/NodeHttp.ts"
import { gatewayUrl } from "../gateway/Target.ts"
import * as Column from "../output/Column.ts"
import * as Output from "../output/Output.ts"
import { withProgress } from "../output/Progress.ts"

const RowView = Schema.Struct({
  id: Schema.String,
  wire: WireName,
  title: Schema.String,
  verdict: Schema.Literal("pass", "fail", "not offered"),
  reasons: Schema.Array(Schema.String),
  source: Schema.String,
  reproduce: Schema.String
})

const Report = Schema.Struct({
  server: Schema.String,
  model: Schema.String,
  passed: Schema.Number,
  failed: Schema.Number,
  notOffered: Schema.Number,
  rows: Schema.Array(RowView)
})

const columns: ReadonlyArray<Column.Column<Row>> = [
  Column.name("Case", ({ id }) => id),
  { header: "Result", value: ({ verdict }) => verdict, fit: "keep" },
  { header: "What it does", value: ({ title }) => title, fit: "cut" },
  { header: "Why not", value: ({ reasons }) => reasons[0] ?? "", fit: "cut" },
  { header: "Source", value: ({ source }) => source, in: "wide" }
]

/** The address that paths are put after: a base URL of an SDK ends with the version that they begin with. */
const rootOf = (text: string) => {
  const url = gatewayUrl(text)
  return url === null
    ? Effect.fail(
        new BadArgument({ message: `'${text}' is no address.`, hint: "Give one such as http://127.0.0.1:11434." })
      )
    : Effect.succeed(url.replace(/\/(?:v1beta|v1|api)$/, ""))
}

const headersOf = (lines: ReadonlyArray<string>) =>
  Effect.map(
    Effect.forEach(lines, (line) => {
      const [, name, value] = /^([A-Za-z0-9-]+):\s*([\x20-\x7e]*)$/.exec(line) ?? []
      return name === undefined || value === undefined
        ? new BadArgument({ message: `'${line}' is no header.`, hint: "Write it as 'x-name: value'." })
        : Effect.succeed([name.toLowerCase(), value] as const)
    }),
    (pairs): Readonly<Record<string, string>> => Object.fromEntries(pairs)
  )

const wanted = (wires: ReadonlyArray<string>, ids: ReadonlyArray<string>) =>
  cases.filter(
    ({ id, wire }) =>
      (wires.length === 0 || wires.includes(wire)) &&
      (ids.length === 0 || ids.some((each) => id === each || id.startsWith(`${each}.`)))
  )

const counted = (rows: ReadonlyArray<Row>, verdict: Row["verdict"]): number =>
  rows.filter((row) => row.verdict === verdict).length

const shown = (rows: ReadonlyArray<Row>) =>
  Effect.gen(function* () {
    yield* Output.rows(rows, columns, "There is no such case.")
    const failures = rows.filter(({ verdict }) => verdict === "fail")
    for (const { id, reasons, reproduce } of failures) {
      yield* Output.print(`\n${id}: ${reasons.join("; ")}\n  ${reproduce}`)
    }
    yield* Output.print(
      `\n${counted(rows, "pass")} passed, ${failures.length} failed, ${counted(rows, "not offered")} not offered`
    )
  })

const flags = {
  against: Options.text("against").pipe(
    Options.withDescription("Address of another gateway or provider; without it the gateway in use."),
    Options.optional
  ),
  key: Options.redacted("key").pipe(Options.withDescription("Key for that address."), Options.optional),
  model: Options.text("model").pipe(
    Options.withDescription("Model that is asked; it should know tools. 'auto' without one."),
    Options.withDefault("auto")
  ),
  header: Options.text("header").pipe(
    Options.withDescription("Header for each request, such as 'x-name: value'; may be repeated."),
    Options.repeated
  ),
  wire: Options.choice("wire", WireName.literals).pipe(
    Options.withDescription("Only cases of this wire; may be given more than once."),
    Options.repeated
  ),
  case: Options.text("case").pipe(
    Options.withDescription("Only this case, or those whose names begin with it."),
    Options.repeated
  )
}

export const conformanceCommand = Command.make(
  "conformance",
  { ...flags, ...Client.connection },
  ({ against, case: ids, header, key, model, wire, ...given }) =>
    Effect.gen(function* () {
      const chosen = wanted(wire, ids)
      if (chosen.length === 0) {
        return yield* new BadArgument({
          message: "No case is named so.",
          hint: `The cases are ${cases.map(({ id }) => id).join(", ")}.`
        })
      }
      const headers = yield* headersOf(header)
      const server: Server = yield* Option.match(against, {
        onNone: () =>
          Effect.map(Client.target(given), ({ apiKey, url }) => ({
            url,
            key: Option.getOrElse(key, () => apiKey),
            model,
            credential: "bearer" as const,
            headers
          })),
        onSome: (text) =>
          Effect.map(rootOf(text), (url) => ({
            url,
            key: Option.getOrNull(key),
            model,
            credential: "own" as const,
            headers
          }))
      })
      const rows = yield* withProgress(
        "Asking",
        chosen.length,
        (report) => run(HttpClient.withTracerPropagation(NodeHttp.client, false), server, chosen, report),
        ({ bytes }) => `${bytes} of ${chosen.length}`
      )
      const value = {
        server: server.url,
        model,
        passed: counted(rows, "pass"),
        failed: counted(rows, "fail"),
        notOffered: counted(rows, "not offered"),
        rows
      }
      const name = `${value.passed} passed, ${value.failed} failed, ${value.notOffered} not offered`
      yield* Output.result({ schema: Report, value, text: shown(rows), name })
      if (value.failed > 0) return yield* new AlreadyReported()
    })
)
