/** Tunnels: ways from elsewhere to this gateway without an open port (docs/tunnels.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { TunnelBackend, TunnelPhase } from "./entity.ts"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, ForbiddenAnswer, UpstreamFailedAnswer } from "../../contract/Errors.ts"
import { exampleTime } from "../../contract/Examples.ts"
import { body, optional } from "../../contract/Inputs.ts"

const examplePublic = "https://machine.example.ts.net"

const status = {
  backend: field(TunnelBackend, "Which of the tunnels it is.", "quick"),
  phase: field(
    TunnelPhase,
    "`needs_auth`: a person has to act first, `lastError` says what to do; `error`: it is not open and `lastError` says why.",
    "running"
  ),
  running: field(Schema.Boolean, "Whether requests can come through now.", true),
  publicUrl: field(
    Schema.NullOr(Schema.String),
    "Its address on the internet; null while there is none.",
    examplePublic
  ),
  apiUrl: field(
    Schema.NullOr(Schema.String),
    "The base address for clients: `publicUrl` followed by `/v1`.",
    `${examplePublic}/v1`
  ),
  targetUrl: field(
    Schema.NullOr(Schema.String),
    "The listener of this machine that its traffic enters by; null while it is stopped.",
    "http://127.0.0.1:40123"
  ),
  lastError: field(Schema.NullOr(Schema.String), "What went wrong last; null: nothing since it was opened.", null),
  warning: field(Schema.NullOr(Schema.String), "What it cannot carry; null: nothing.", null),
  since: field(Schema.String, "When its phase began, ISO 8601.", exampleTime),
  restarts: field(Schema.Number, "How often it was opened again by itself since it was enabled.", 0),
  allowKeyless: field(Schema.Boolean, "Whether it carries requests while the gateway requires no API key.", false)
}

export const TunnelView = Schema.Struct(status).annotations({ identifier: "Tunnel" })
export type TunnelView = typeof TunnelView.Type

export const MeshTunnelView = Schema.Struct({
  ...status,
  tunnelUrl: field(Schema.NullOr(Schema.String), "The same as `publicUrl`.", examplePublic),
  authUrl: field(
    Schema.NullOr(Schema.String),
    "Where a person logs this machine in; null: it is logged in, or the address is not known.",
    null
  ),
  funnelNotEnabled: field(Schema.Boolean, "Whether the network does not allow funnels yet.", false),
  enableUrl: field(Schema.NullOr(Schema.String), "Where a person allows them; null: nothing has to be allowed.", null)
}).annotations({ identifier: "MeshTunnel" })
export type MeshTunnelView = typeof MeshTunnelView.Type

export const MeshCheckView = Schema.Struct({
  installed: field(Schema.Boolean, "Whether the program of the mesh VPN is on this machine.", true),
  daemonRunning: field(Schema.Boolean, "Whether its background service runs.", true),
  loggedIn: field(Schema.Boolean, "Whether this machine belongs to a network.", true),
  version: field(Schema.NullOr(Schema.String), "Version of the program; null: not installed, or not told.", "1.84.0"),
  hostname: field(
    Schema.NullOr(Schema.String),
    "This machine's name in the network; null: none yet.",
    "machine.example.ts.net"
  )
}).annotations({ identifier: "MeshCheck" })
export type MeshCheckView = typeof MeshCheckView.Type

export const MeshLoginView = Schema.Struct({
  authUrl: field(
    Schema.NullOr(Schema.String),
    "Where a person logs this machine in, in a browser; null: it is logged in.",
    "https://login.example.com/a/1234"
  ),
  loggedIn: field(Schema.Boolean, "Whether this machine is logged in.", false)
}).annotations({ identifier: "MeshLogin" })
export type MeshLoginView = typeof MeshLoginView.Type

const maxSecretChars = 4_096

const noControls = /^\P{Cc}*$/u

/** A secret that is handed to another program: a line break in it could be taken for the next line of input. */
const secret = (example: string) =>
  Schema.Redacted(
    Schema.String.pipe(
      Schema.minLength(1, { message: () => "must not be empty" }),
      Schema.maxLength(maxSecretChars, { message: () => `must have at most ${maxSecretChars} characters` }),
      Schema.pattern(noControls, { message: () => "must not hold control characters" })
    ).annotations({ examples: [example] })
  )

const Action = Schema.Literal("enable", "disable").annotations({
  message: () => ({ message: "must be 'enable' or 'disable'", override: true })
})

const Hostname = Schema.Trim.pipe(
  Schema.pattern(/^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/, {
    message: () => "must be 1 to 63 letters, digits or hyphens, and begin and end with a letter or digit"
  })
)

/** A user and a host as they are given to a program: neither may be taken for one of its options. */
export const destinationForm =
  /^([a-z_A-Z0-9][\w.+-]{0,63})@([a-zA-Z0-9][a-zA-Z0-9.-]{0,252}|\[[0-9a-fA-F:.]{2,45}\])(?::(\d{1,5}))?$/

const portProblem = "must be a port from 1 to 65535"

const Destination = Schema.Trim.pipe(
  Schema.pattern(destinationForm, { message: () => "must be user@host or user@host:port" }),
  Schema.filter((text) => {
    const port = destinationForm.exec(text)?.[3]
    return port === undefined || (Number(port) > 0 && Number(port) <= 65_535) ? true : portProblem
  })
)

const HostKey = Schema.Trim.pipe(
  Schema.pattern(/^SHA256:[A-Za-z0-9+/]{43}=?$/, { message: () => "must be a fingerprint of the form SHA256:…" })
)

export const meshPorts = [443, 8443, 10_000] as const

const words = {
  action: ["Whether it is to be open.", "enable"],
  allowKeyless: [
    "Open it although the gateway requires no API key: everybody who knows the address can use your accounts.",
    false
  ],
  sudoPassword:
    "Your password on the gateway's machine, for commands that need the rights of root. It is used for this call and not kept, and is taken from that machine only."
} as const

const allowKeyless = field(optional(Schema.Boolean), ...words.allowKeyless)
const sudoPassword = field(optional(secret("your-password")), words.sudoPassword)

export const SetQuickTunnel = Schema.Struct({
  action: field(Action, ...words.action),
  allowKeyless
}).annotations(body("SetQuickTunnel"))
export type SetQuickTunnel = typeof SetQuickTunnel.Type

export const SetTokenTunnel = Schema.Struct({
  action: field(Action, ...words.action),
  authToken: field(
    optional(secret("your-authtoken")),
    "The authtoken of your account at the tunnel's service. It is stored encrypted; absent: the stored one, or that of `TOKEN_TUNNEL_AUTHTOKEN`."
  ),
  allowKeyless
}).annotations(body("SetTokenTunnel"))
export type SetTokenTunnel = typeof SetTokenTunnel.Type

export const SetSshTunnel = Schema.Struct({
  action: field(Action, ...words.action),
  destination: field(
    optional(Destination),
    "The account and the server, `user@host` or `user@host:port`; needed to enable it.",
    "me@server.example.com"
  ),
  remotePort: field(
    optional(Schema.Int.pipe(Schema.between(0, 65_535, { message: () => "must be a port from 0 to 65535" }))),
    "The port that the server listens on; 0: it chooses a free one.",
    8080
  ),
  hostKey: field(
    optional(HostKey),
    "The fingerprint of the server's key; absent: the one that was confirmed before.",
    "SHA256:uNiVztksCsDhcc0u9e8BrrJXVGDDiLfhbZKpA2bqvl4"
  ),
  allowKeyless
}).annotations(body("SetSshTunnel"))
export type SetSshTunnel = typeof SetSshTunnel.Type

export const WithSudoPassword = Schema.Struct({ sudoPassword }).annotations(body("MeshCommand"))
export type WithSudoPassword = typeof WithSudoPassword.Type

export const LogInMesh = Schema.Struct({
  hostname: field(optional(Hostname), "The name of this machine in the network; absent: its own.", "machine")
}).annotations(body("LogInMesh"))
export type LogInMesh = typeof LogInMesh.Type

export const EnableMeshTunnel = Schema.Struct({
  sudoPassword,
  hostname: field(
    optional(Hostname),
    "The name of this machine in the network, for the login of a machine that is not logged in; absent: its own.",
    "machine"
  ),
  port: field(
    optional(
      Schema.Literal(...meshPorts).annotations({
        message: () => ({ message: `must be one of ${meshPorts.join(", ")}`, override: true })
      })
    ),
    "The public port; absent: 443.",
    443
  ),
  allowKeyless
}).annotations(body("EnableMeshTunnel"))
export type EnableMeshTunnel = typeof EnableMeshTunnel.Type

const Progress = HttpApiSchema.Text({ contentType: "text/event-stream" }).annotations({
  description:
    "Server-sent events: `progress` with `{step, message, percent|null}` as each step begins, then `done` with what `GET /api/tunnels/mesh/check` answers, or `error` with `{message}`.",
  examples: [
    'event: progress\ndata: {"step":"download","message":"Downloading the program.","percent":40}\n\n' +
      'event: done\ndata: {"installed":true,"daemonRunning":true,"loggedIn":false}\n\n'
  ]
})

const at = endpointsOf("tunnels")

const setting =
  "Answers when it is open, has failed or waits for a person, after 30 seconds at the latest. While the gateway requires no API key it is opened with `allowKeyless` only."

export class Tunnels extends HttpApiGroup.make("tunnels")
  .annotate(OpenApi.Title, "Tunnels")
  .annotate(
    OpenApi.Description,
    "Addresses on the internet for this gateway, without an open port. What comes through one never counts as made on this machine."
  )
  .add(
    at("list", {
      summary: "List tunnels",
      description: "The state of each tunnel, also of those that are not open."
    }).addSuccess(
      Schema.Struct({ tunnels: field(Schema.Array(TunnelView), "One for each backend.") }).annotations({
        identifier: "TunnelList"
      })
    )
  )
  .add(
    at("quick", {
      summary: "Show the quick tunnel",
      description: "An address that is new at every start, without an account. It cannot carry server-sent events."
    }).addSuccess(TunnelView)
  )
  .add(
    at("setQuick", {
      summary: "Open or close the quick tunnel",
      description: `Its program is downloaded the first time. ${setting}`,
      example: { action: "disable" }
    })
      .setPayload(SetQuickTunnel)
      .addSuccess(TunnelView)
      .addError(ConflictAnswer)
  )
  .add(
    at("token", {
      summary: "Show the token tunnel",
      description: "A tunnel of an account at a tunnel service; `needs_auth` when no authtoken is known."
    }).addSuccess(TunnelView)
  )
  .add(
    at("setToken", {
      summary: "Open or close the token tunnel",
      description: `Without an authtoken its phase becomes \`needs_auth\`. ${setting}`,
      example: { action: "disable" }
    })
      .setPayload(SetTokenTunnel)
      .addSuccess(TunnelView)
      .addError(ConflictAnswer)
  )
  .add(
    at("ssh", { summary: "Show the SSH tunnel", description: "A remote forward to a server of yours." }).addSuccess(
      TunnelView
    )
  )
  .add(
    at("setSsh", {
      summary: "Open or close the SSH tunnel",
      description: `The server's key has to be known: send its fingerprint as \`hostKey\` once. ${setting}`,
      example: { action: "disable" }
    })
      .setPayload(SetSshTunnel)
      .addSuccess(TunnelView)
      .addError(ConflictAnswer)
  )
  .add(
    at("mesh", {
      summary: "Show the mesh tunnel",
      description: "The funnel of a mesh VPN, with an address that stays the same."
    }).addSuccess(MeshTunnelView)
  )
  .add(
    at("checkMesh", {
      summary: "Check the mesh VPN",
      description: "Whether its program is installed, its service runs, and this machine is logged in."
    }).addSuccess(MeshCheckView)
  )
  .add(
    at("installMesh", {
      summary: "Install the mesh VPN",
      description: "Linux and macOS. Progress is sent as server-sent events.",
      example: {}
    })
      .setPayload(WithSudoPassword)
      .addSuccess(Progress)
      .addError(ForbiddenAnswer)
  )
  .add(
    at("startMeshDaemon", {
      summary: "Start the service of the mesh VPN",
      description: "Answers what the check finds afterwards.",
      example: {}
    })
      .setPayload(WithSudoPassword)
      .addSuccess(MeshCheckView)
      .addError(ForbiddenAnswer)
      .addError(UpstreamFailedAnswer)
  )
  .add(
    at("logInMesh", {
      summary: "Log this machine in to the mesh VPN",
      description: "A person opens `authUrl` in a browser.",
      example: {}
    })
      .setPayload(LogInMesh)
      .addSuccess(MeshLoginView)
      .addError(UpstreamFailedAnswer)
  )
  .add(
    at("enableMesh", {
      summary: "Open the mesh tunnel",
      description: `When the network does not allow funnels, \`funnelNotEnabled\` is true and \`enableUrl\` says where to allow them. ${setting}`,
      example: {}
    })
      .setPayload(EnableMeshTunnel)
      .addSuccess(MeshTunnelView)
      .addError(ConflictAnswer)
      .addError(ForbiddenAnswer)
      .addError(UpstreamFailedAnswer)
  )
  .add(
    at("disableMesh", {
      summary: "Close the mesh tunnel",
      description: "Done when nothing of it is left; where that needs the rights of root, with `sudoPassword` only.",
      example: {}
    })
      .setPayload(WithSudoPassword)
      .addSuccess(MeshTunnelView)
      .addError(ForbiddenAnswer)
      .addError(UpstreamFailedAnswer)
  ) {}
