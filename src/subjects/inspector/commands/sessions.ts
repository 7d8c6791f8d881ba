/** `gateway inspect sessions` and `gateway inspect export`. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as HttpBody from "@effect/platform/HttpBody"
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import { createReadStream } from "node:fs"
import { stat } from "node:fs/promises"
import { RecordView, SessionView } from "../../../contract/traffic/InspectorRecords.ts"
import { isObject, objectOr, parseJson, stringOr } from "../../declared/Values.ts"
import { BadArgument, CommandFailed } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { save } from "../../../cli/output/SaveFile.ts"
import { columns as recordColumns, filterFlags, filterOf, inspector, retries, together } from "./rows.ts"

type Session = typeof SessionView.Type

const Sessions = Schema.Struct({ sessions: Schema.Array(SessionView) })
const OneSession = Schema.Struct({ session: SessionView })
const Detail = Schema.Struct({ session: SessionView, requests: Schema.Array(RecordView) })

const columns: ReadonlyArray<Column.Column<Session>> = [
  Column.text("NAME", ({ name }) => name),
  Column.text("STATE", ({ state }) => state),
  Column.time("BEGAN", ({ startedAt }) => startedAt),
  Column.number("REQUESTS", ({ requestCount }) => requestCount),
  Column.yesNo("CUT", ({ truncated }) => truncated),
  Column.id("ID", ({ id }) => id)
]

const session = Args.text({ name: "session" }).pipe(Args.withDescription("The id of a recorded session."))
const sessionName = Options.text("name").pipe(Options.withDescription("A name for the session."), Options.optional)

export const sessionsList = Command.make("list", Client.connection, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* inspector(to)
    const answer = yield* client.sessions().pipe(Client.orExplain(to))
    yield* Output.list({
      schema: Sessions,
      value: answer,
      rows: answer.sessions,
      columns,
      empty: "No session was recorded. Begin with 'gateway inspect sessions start'."
    })
  })
)

export const sessionsStart = Command.make("start", { name: sessionName, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* inspector(to)
    const name = Option.getOrUndefined(given.name)
    const answer = yield* client
      .startSession({ payload: name === undefined ? {} : { name } })
      .pipe(Client.orExplain(to))
    const { id } = answer.session
    yield* Output.result({
      schema: OneSession,
      value: answer,
      text: Effect.zipRight(
        Output.note("What is captured from now on is recorded, until 'gateway inspect sessions stop'."),
        Output.print(id)
      ),
      name: id
    })
  })
)

const maybeSession = Args.text({ name: "session" }).pipe(
  Args.withDescription("The id of a recorded session; without it the one that records."),
  Args.optional
)

export const sessionsStop = Command.make("stop", { session: maybeSession, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* inspector(to)
    const { sessions } = yield* client.sessions().pipe(Client.orExplain(to))
    const id = Option.getOrElse(given.session, () => sessions.find(({ state }) => state === "recording")?.id)
    if (id === undefined) return yield* new BadArgument({ message: "No session records." })
    const answer = yield* client.changeSession({ path: { id }, payload: { action: "stop" } }).pipe(Client.orExplain(to))
    const count = Output.counted(answer.session.requestCount, "request")
    yield* Output.result({
      schema: OneSession,
      value: answer,
      text: Output.note(`The session is saved, with ${count}.`),
      name: id
    })
  })
)

const newName = Args.text({ name: "name" }).pipe(Args.withDescription("Its new name; '' takes the name away."))

export const sessionsRename = Command.make("rename", { session, name: newName, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* inspector(to)
    const payload = given.name === "" ? { action: "rename" as const } : { action: "rename" as const, name: given.name }
    const answer = yield* client.changeSession({ path: { id: given.session }, payload }).pipe(Client.orExplain(to))
    yield* Output.result({
      schema: OneSession,
      value: answer,
      text: Output.note(given.name === "" ? "The session has no name any more." : "The session is renamed."),
      name: answer.session.id
    })
  })
)

export const sessionsShow = Command.make("show", { session, retries, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* inspector(to)
    const answer = yield* client.session({ path: { id: given.session } }).pipe(Client.orExplain(to))
    yield* Output.list({
      schema: Detail,
      value: answer,
      rows: given.retries ? answer.requests : together(answer.requests),
      columns: recordColumns,
      empty: "Nothing was captured while it recorded."
    })
  })
)

export const sessionsRemove = Command.make("remove", { session, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    const client = yield* inspector(to)
    yield* client.removeSession({ path: { id: given.session } }).pipe(Client.orExplain(to))
    yield* Output.done({ removed: given.session }, "The session is removed, with its records.", given.session)
  })
)

const har = Options.boolean("har").pipe(Options.withDescription("An HTTP archive; the default."))
const lines = Options.boolean("jsonl").pipe(Options.withDescription("One record a line."))
const out = Options.text("out").pipe(
  Options.withAlias("o"),
  Options.withDescription("The file; without it, standard output."),
  Options.withDefault("-")
)
const force = Options.boolean("force").pipe(Options.withDescription("Replace a file that is there."))

const root = "/api/tools/traffic-inspector"

interface Export {
  readonly har: boolean
  readonly jsonl: boolean
  readonly out: string
  readonly force: boolean
}

const formatOf = ({ har: asHar, jsonl }: Export) =>
  asHar && jsonl
    ? new BadArgument({ message: "--har and --jsonl are two formats; give one of them." })
    : Effect.succeed(jsonl ? "export.jsonl" : "export.har")

/** Downloads to a file or to standard output, as it comes. */
const download = (to: Client.Target, path: string, { force: replace, out: file }: Export) =>
  Effect.gen(function* () {
    const [, written] = yield* save(
      { path: file, name: path.endsWith(".jsonl") ? "requests.jsonl" : "requests.har", force: replace },
      (sink) =>
        Effect.gen(function* () {
          const response = yield* Client.httpClient(to)
            .execute(HttpClientRequest.get(`${to.url}${root}${path}`))
            .pipe(Client.orExplain(to))
          if (response.status !== 200) {
            const answer = parseJson(yield* response.text.pipe(Client.orExplain(to)))
            const error = objectOr(isObject(answer) ? answer["error"] : undefined)
            return yield* new CommandFailed({
              message: stringOr(error["message"]) ?? `The gateway answered with the status ${response.status}.`
            })
          }
          return yield* Stream.runForEach(response.stream.pipe(Stream.mapError(Client.explain(to))), sink)
        })
    )
    if (written !== null) yield* Output.note(`Written to ${written}.`)
  })

const exportFlags = { har, jsonl: lines, out, force }

export const inspectExport = Command.make("export", { ...exportFlags, ...filterFlags, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const filter = yield* filterOf(given)
    const to = yield* Client.target(given)
    const query = new URLSearchParams(
      Object.entries(filter).map(([name, value]): [string, string] => [name, String(value)])
    ).toString()
    const format = yield* formatOf(given)
    yield* download(to, `/${format}${query === "" ? "" : `?${query}`}`, given)
  })
)

export const sessionsExport = Command.make("export", { session, ...exportFlags, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const to = yield* Client.target(given)
    yield* download(to, `/sessions/${encodeURIComponent(given.session)}/${yield* formatOf(given)}`, given)
  })
)

const archive = Args.text({ name: "file" }).pipe(Args.withDescription("An HTTP archive (HAR) of any program."))

export const sessionsImport = Command.make("import", { file: archive, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const { size } = yield* Effect.tryPromise({
      try: () => stat(given.file),
      catch: () => new BadArgument({ message: `'${given.file}' cannot be read.` })
    })
    const to = yield* Client.target(given)
    const request = HttpClientRequest.post(`${to.url}${root}/sessions/import`).pipe(
      HttpClientRequest.setBody(
        HttpBody.raw(createReadStream(given.file), { contentLength: size, contentType: "application/json" })
      )
    )
    const response = yield* Client.httpClient(to).execute(request).pipe(Client.orExplain(to))
    const answer = parseJson(yield* response.text.pipe(Client.orExplain(to)))
    const decoded = Schema.decodeUnknownOption(OneSession)(answer)
    if (response.status !== 201 || Option.isNone(decoded)) {
      const error = objectOr(isObject(answer) ? answer["error"] : undefined)
      return yield* new BadArgument({
        message: stringOr(error["message"]) ?? `The gateway answered with the status ${response.status}.`
      })
    }
    const made = decoded.value
    yield* Output.result({
      schema: OneSession,
      value: made,
      text: Effect.zipRight(
        Output.note(`A session of ${Output.counted(made.session.requestCount, "request")} was made.`),
        Output.print(made.session.id)
      ),
      name: made.session.id
    })
  })
)
