/** `gateway tunnel create`: opens a tunnel, and prints the base address for clients. */
import * as Args from "@effect/cli/Args"
import * as Command from "@effect/cli/Command"
import * as Options from "@effect/cli/Options"
import * as Prompt from "@effect/cli/Prompt"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Redacted from "effect/Redacted"
import {
  EnableMeshTunnel,
  type MeshTunnelView,
  SetQuickTunnel,
  SetSshTunnel,
  SetTokenTunnel,
  TunnelView
} from "../routes.ts"
import { TunnelBackend } from "../entity.ts"
import { confirm } from "../../../cli/asking/confirm.ts"
import { secretly } from "../../../cli/asking/secretly.ts"
import { readSecret } from "../../../cli/asking/stdin.ts"
import { canAsk } from "../../../cli/asking/terminal.ts"
import { BadArgument, type CliFailure, CommandFailed } from "../../../cli/Failure.ts"
import { body } from "../../../cli/flags/Flags.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { loadModule } from "../../../cli/lazy.ts"
import * as Output from "../../../cli/output/Output.ts"
import { withSpinner } from "../../../cli/output/spinner.ts"
import { prepareMesh } from "./installing.ts"
import { one } from "./rows.ts"

const flags = {
  backend: Args.choice(
    TunnelBackend.literals.map((name): [string, TunnelBackend] => [name, name]),
    { name: "tunnel" }
  ).pipe(Args.withDescription("quick, token, mesh or ssh; docs/tunnels.md compares them.")),
  destination: Args.text({ name: "user@host[:port]" }).pipe(
    Args.withDescription("Of ssh: the account and the server."),
    Args.optional
  ),
  qr: Options.boolean("qr").pipe(Options.withDescription("Show the address as a QR code, too.")),
  allowKeyless: Options.boolean("allow-keyless").pipe(
    Options.withDescription(
      "Open it although the gateway requires no API key: everybody who knows the address gets in."
    )
  ),
  authTokenStdin: Options.boolean("auth-token-stdin").pipe(
    Options.withDescription("Of token: read the authtoken from standard input instead of asking.")
  ),
  hostKey: Options.text("host-key").pipe(
    Options.withDescription("Of ssh: the fingerprint of the server's key, SHA256:…, instead of asking."),
    Options.optional
  ),
  remotePort: Options.integer("remote-port").pipe(
    Options.withDescription("Of ssh: the port that the server listens on; without it the server chooses one."),
    Options.optional
  ),
  publicPort: Options.integer("public-port").pipe(
    Options.withDescription("Of mesh: the public port, 443, 8443 or 10000. Default: 443."),
    Options.optional
  ),
  hostname: Options.text("hostname").pipe(
    Options.withDescription("Of mesh: the machine's name in the network, when it is logged in."),
    Options.optional
  ),
  install: Options.boolean("install").pipe(
    Options.withDescription("Of mesh: install the mesh VPN without asking when it is missing.")
  ),
  sudoPasswordStdin: Options.boolean("sudo-password-stdin").pipe(
    Options.withDescription("Of mesh: read your password on the gateway's machine from standard input; it is not kept.")
  )
}

type CreateFlags = Command.Command.ParseConfig<typeof flags>

const fieldFlags = {
  destination: "<user@host[:port]>",
  hostKey: "--host-key",
  remotePort: "--remote-port",
  port: "--public-port",
  hostname: "--hostname",
  authToken: "--auth-token-stdin",
  sudoPassword: "--sudo-password-stdin"
}

/** Flags that belong to one of the tunnels. */
const ownFlags = (given: CreateFlags): ReadonlyArray<readonly [flag: string, of: TunnelBackend, isGiven: boolean]> => [
  ["<user@host[:port]>", "ssh", Option.isSome(given.destination)],
  ["--auth-token-stdin", "token", given.authTokenStdin],
  ["--host-key", "ssh", Option.isSome(given.hostKey)],
  ["--remote-port", "ssh", Option.isSome(given.remotePort)],
  ["--public-port", "mesh", Option.isSome(given.publicPort)],
  ["--hostname", "mesh", Option.isSome(given.hostname)],
  ["--install", "mesh", given.install],
  ["--sudo-password-stdin", "mesh", given.sudoPasswordStdin]
]

const keyless = "Requests with a key: 'gateway flags set REQUIRE_API_KEY true'. Without one: --allow-keyless."

const isKeysRequired = (error: unknown): boolean =>
  Predicate.hasProperty(error, "code") && error.code === "keys_required"

/** Explains failures as `Client.orExplain`, with advice about a gateway without keys. */
const explained =
  (to: Client.Target) =>
  <A, E, R>(call: Effect.Effect<A, E, R>): Effect.Effect<A, CliFailure, R> =>
    call.pipe(
      Effect.asSome,
      Effect.catchIf(isKeysRequired, () => Effect.succeedNone),
      Client.orExplain(to),
      Effect.flatMap((answer) =>
        Option.isSome(answer)
          ? Effect.succeed(answer.value)
          : new CommandFailed({
              message: "The gateway requires no API key, so the tunnel was not opened.",
              hint: keyless
            })
      ),
      withSpinner("Opening the tunnel …")
    )

const stdinSecret = (flag: string) =>
  Effect.flatMap(readSecret, (text) => {
    const secret = text.replace(/\r?\n$/, "")
    return secret === ""
      ? new BadArgument({ message: `${flag}: there is nothing on standard input.` })
      : Effect.succeed(secret)
  })

const askToken = secretly(
  Prompt.password({
    message: "Authtoken of the tunnel's service",
    validate: (text) =>
      text.trim() === "" ? Effect.fail("Paste it, or stop with Ctrl-C.") : Effect.succeed(text.trim())
  })
)

const openToken = (to: Client.Target, given: CreateFlags) =>
  Effect.gen(function* () {
    const client = yield* Client.group(to, "tunnels")
    const set = (authToken: string | undefined) =>
      body(SetTokenTunnel, { action: "enable", allowKeyless: given.allowKeyless, authToken }, fieldFlags).pipe(
        Effect.flatMap((payload) => explained(to)(client.setToken({ payload })))
      )
    if (given.authTokenStdin) return yield* set(yield* stdinSecret("--auth-token-stdin"))
    const tunnel = yield* set(undefined)
    if (tunnel.phase !== "needs_auth" || !(yield* canAsk)) return tunnel
    yield* Output.note(tunnel.lastError ?? "The tunnel needs an authtoken.")
    return yield* set(Redacted.value(yield* askToken))
  })

/** The fingerprint in the gateway's words about a server that is not known yet; null: they are about something else. */
const fingerprintIn = (text: string): string | null => /SHA256:[A-Za-z0-9+/]{43}=?/.exec(text)?.[0] ?? null

const openSsh = (to: Client.Target, given: CreateFlags) =>
  Effect.gen(function* () {
    const client = yield* Client.group(to, "tunnels")
    const payloadOf = (hostKey: string | undefined) =>
      body(
        SetSshTunnel,
        {
          action: "enable",
          allowKeyless: given.allowKeyless,
          destination: Option.getOrUndefined(given.destination),
          remotePort: Option.getOrUndefined(given.remotePort),
          hostKey
        },
        fieldFlags
      )
    const payload = yield* payloadOf(Option.getOrUndefined(given.hostKey))
    if (payload.hostKey !== undefined) return yield* explained(to)(client.setSsh({ payload }))
    /** Message about the server's key, or the tunnel as it is. */
    const first = yield* client.setSsh({ payload }).pipe(
      Effect.catchTag("BadRequest", (error) =>
        error.param === "hostKey" ? Effect.succeed(error.message) : Effect.fail(error)
      ),
      explained(to)
    )
    const words = typeof first === "string" ? first : first.phase === "needs_auth" ? (first.lastError ?? "") : ""
    const fingerprint = fingerprintIn(words)
    if (fingerprint === null) {
      return typeof first === "string" ? yield* new BadArgument({ message: first }) : first
    }
    if (!(yield* canAsk)) {
      return yield* new BadArgument({
        message: words,
        hint: `If that is the key of your server, give --host-key ${fingerprint}`
      })
    }
    yield* Output.note(words)
    yield* confirm({ yes: false }, `Is ${fingerprint} the key of your server?`)
    return yield* explained(to)(client.setSsh({ payload: yield* payloadOf(fingerprint) }))
  })

const openMesh = (to: Client.Target, given: CreateFlags) =>
  Effect.gen(function* () {
    const client = yield* Client.group(to, "tunnels")
    const sudoPassword = given.sudoPasswordStdin ? yield* stdinSecret("--sudo-password-stdin") : undefined
    const hostname = Option.getOrUndefined(given.hostname)
    const payload = yield* body(
      EnableMeshTunnel,
      {
        allowKeyless: given.allowKeyless,
        sudoPassword,
        hostname,
        port: Option.getOrUndefined(given.publicPort)
      },
      fieldFlags
    )
    yield* prepareMesh(to, {
      install: given.install,
      hostname: hostname ?? null,
      sudoPassword: payload.sudoPassword ?? null
    })
    return yield* explained(to)(client.enableMesh({ payload }))
  })

const open = (to: Client.Target, given: CreateFlags) =>
  Effect.gen(function* () {
    switch (given.backend) {
      case "quick": {
        const client = yield* Client.group(to, "tunnels")
        const payload = yield* body(SetQuickTunnel, { action: "enable", allowKeyless: given.allowKeyless }, fieldFlags)
        return yield* explained(to)(client.setQuick({ payload }))
      }
      case "token":
        return yield* openToken(to, given)
      case "ssh":
        return yield* openSsh(to, given)
      case "mesh":
        return yield* openMesh(to, given)
    }
  })

const every = "500 millis"

/**
 * Waits until it has started: its program may have to be downloaded first, which takes longer than the gateway's answer
 * waits.
 */
const whenStarted = (to: Client.Target, tunnel: TunnelView): Effect.Effect<TunnelView, CliFailure> =>
  tunnel.phase === "starting"
    ? Effect.flatMap(Effect.zipRight(Effect.sleep(every), one(to, tunnel.backend)), (next) => whenStarted(to, next))
    : Effect.succeed(tunnel)

const longest = "10 minutes"

const notOpen = (tunnel: TunnelView): CommandFailed => {
  const mesh = tunnel as Partial<MeshTunnelView>
  const link = mesh.enableUrl ?? mesh.authUrl ?? null
  return new CommandFailed({
    message: tunnel.lastError ?? `The ${tunnel.backend} tunnel is not open: its phase is ${tunnel.phase}.`,
    hint:
      link !== null
        ? `Open ${link}, then run the command again.`
        : tunnel.phase === "needs_auth" && tunnel.backend === "token"
          ? "Give the authtoken with --auth-token-stdin, or set TOKEN_TUNNEL_AUTHTOKEN."
          : `'gateway tunnel status ${tunnel.backend} --watch' shows how it goes on.`
  })
}

/** `code`: the address as a QR code; null: it is not wanted. */
const shown = (tunnel: TunnelView, address: string, code: string | null) =>
  Effect.gen(function* () {
    yield* Output.note(`The ${tunnel.backend} tunnel is open. Clients use this base address:`)
    yield* Output.print(address)
    if (code !== null) yield* Output.note(code)
    if (tunnel.warning !== null) yield* Output.note(tunnel.warning)
    if (tunnel.allowKeyless) yield* Output.note("It answers without an API key while the gateway requires none.")
  })

export const tunnelCreate = Command.make("create", { ...flags, ...Client.connection }, (given) =>
  Effect.gen(function* () {
    const astray = ownFlags(given).find(([, of, isGiven]) => isGiven && of !== given.backend)
    if (astray !== undefined) {
      return yield* new BadArgument({ message: `${astray[0]}: only the ${astray[1]} tunnel has this.` })
    }
    if (given.backend === "ssh" && Option.isNone(given.destination)) {
      return yield* new BadArgument({
        message: "Where the SSH tunnel leads is not said.",
        hint: "Example: gateway tunnel create ssh me@server.example.com"
      })
    }
    const to = yield* Client.target(given)
    const tunnel = yield* Effect.flatMap(open(to, given), (first) =>
      whenStarted(to, first).pipe(
        withSpinner("Opening the tunnel …"),
        Effect.timeoutTo({ duration: longest, onSuccess: (last) => last, onTimeout: () => first })
      )
    )
    if (!tunnel.running || tunnel.apiUrl === null) return yield* notOpen(tunnel)
    const address = tunnel.apiUrl
    const code = given.qr
      ? yield* Effect.map(
          loadModule(() => import("../../../cli/output/QrCode.ts")),
          ({ qrLines }) => qrLines(address).join("\n")
        )
      : null
    yield* Output.result({
      schema: TunnelView,
      value: tunnel,
      text: shown(tunnel, address, code),
      name: address
    })
  })
)
