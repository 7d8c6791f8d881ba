/** The mesh VPN is made ready from the command line: installed with its steps as they come, started, logged in. */
import * as HttpClientRequest from "@effect/platform/HttpClientRequest"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import type { MeshCheckView } from "../routes.ts"
import { confirm } from "../../../cli/asking/confirm.ts"
import { CommandFailed } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import * as Inference from "../../../cli/gateway/Inference.ts"
import { loadModule } from "../../../cli/lazy.ts"
import * as Output from "../../../cli/output/Output.ts"
import { withSpinner } from "../../../cli/output/spinner.ts"

const Progress = Schema.parseJson(
  Schema.Struct({ message: Schema.String, percent: Schema.optional(Schema.NullOr(Schema.Number)) })
)

interface InstallProgress {
  readonly name: string
  readonly message: string
  readonly percent: number | null
}

const fieldOf = (block: string, field: string): string =>
  block
    .split(/\r\n|\r|\n/)
    .filter((line) => line.startsWith(`${field}:`))
    .map((line) => line.slice(field.length + 1).trim())
    .join("\n")

const toldBy = (block: string): InstallProgress => {
  const data = Option.getOrNull(Schema.decodeOption(Progress)(fieldOf(block, "data")))
  return { name: fieldOf(block, "event"), message: data?.message ?? "", percent: data?.percent ?? null }
}

const said = ({ message, percent }: InstallProgress): string =>
  percent === null ? message : `${message} ${Math.round(percent)} %`

const cut = new CommandFailed({
  message: "The installation broke off.",
  hint: "'gateway logs' shows why; it may be begun again."
})

/** Installs the program, and prints each step. */
export const install = (to: Client.Target, sudoPassword: Redacted.Redacted | null) =>
  Effect.gen(function* () {
    const { makeSseFramer } = yield* loadModule(() => import("../../../wire/sse/SseFramer.ts"))
    const framer = makeSseFramer()
    const response = yield* Inference.ask(
      to,
      HttpClientRequest.bodyUnsafeJson(
        HttpClientRequest.post(`${to.url}/api/tunnels/mesh/install`),
        sudoPassword === null ? {} : { sudoPassword: Redacted.value(sudoPassword) }
      ),
      null
    )
    let end: InstallProgress | null = null
    let last = ""
    yield* response.stream.pipe(
      Stream.mapConcat((chunk) => {
        const events: Array<InstallProgress> = []
        framer.push(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength), (bytes, start, stop) =>
          events.push(toldBy(bytes.toString("utf8", start, stop)))
        )
        return events
      }),
      Stream.runForEach((told) => {
        if (told.name === "progress") {
          const line = said(told)
          const isNew = line !== last
          last = line
          return isNew ? Output.note(line) : Effect.void
        }
        if (told.name !== "") end = told
        return Effect.void
      }),
      withSpinner("Installing …"),
      Effect.mapError(() => cut)
    )
    const ended = end as InstallProgress | null
    if (ended === null) return yield* cut
    if (ended.name === "error") {
      return yield* new CommandFailed({
        message: ended.message,
        hint: "If it needs the rights of root, give your password with --sudo-password-stdin."
      })
    }
  })

interface MeshOptions {
  readonly install: boolean
  readonly hostname: string | null
  readonly sudoPassword: Redacted.Redacted | null
}

/** Everything that a funnel needs beforehand; a person logs in by himself. */
export const prepareMesh = (to: Client.Target, { hostname, install: mayInstall, sudoPassword }: MeshOptions) =>
  Effect.gen(function* () {
    const client = yield* Client.group(to, "tunnels")
    const payload = sudoPassword === null ? {} : { sudoPassword }
    let check: MeshCheckView = yield* client.checkMesh().pipe(Client.orExplain(to))
    if (!check.installed) {
      yield* confirm({ yes: mayInstall }, "The mesh VPN is not installed on the gateway's machine. Install it?")
      yield* install(to, sudoPassword)
      check = yield* client.checkMesh().pipe(Client.orExplain(to))
    }
    if (!check.daemonRunning) check = yield* client.startMeshDaemon({ payload }).pipe(Client.orExplain(to))
    if (check.loggedIn) return
    const { authUrl } = yield* client
      .logInMesh({ payload: hostname === null ? {} : { hostname } })
      .pipe(Client.orExplain(to))
    if (authUrl === null) return
    return yield* new CommandFailed({
      message: `The gateway's machine has to be logged in to the mesh VPN first: open ${authUrl}`,
      hint: "Then run the command again."
    })
  })
