/** Capture of this machine's traffic (docs/capture.md). All routes answer direct connections from the gateway's own machine only. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { BadRequestAnswer, ConflictAnswer, NotFoundAnswer, UnavailableAnswer } from "../../contract/Errors.ts"
import { exampleTime } from "../../contract/Examples.ts"
import { body, Created, NoContent, optional } from "../../contract/Inputs.ts"
import { observed } from "../../kernel/Observed.ts"

const Kind = Schema.Literal("llm", "app", "custom")
const Label = Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(200))
const HostName = Schema.Trim.pipe(Schema.minLength(1, { message: () => "must not be empty" }), Schema.maxLength(1_000))

export const CustomHostView = Schema.Struct({
  host: field(Schema.String, "Its name.", "api.example.com"),
  enabled: field(Schema.Boolean, "Whether it is captured.", true),
  label: field(Schema.NullOr(Schema.String), "What a person calls it.", "Staging"),
  kind: field(Kind, "What its requests are listed as; `custom`: of a host that was added.", "custom"),
  inHostsFile: observed(Schema.Boolean, "Whether the hosts file sends it to this machine now.", true)
}).annotations({ identifier: "CustomHost" })
export type CustomHostView = typeof CustomHostView.Type

export const AddHost = Schema.Struct({
  host: field(HostName, "The name, without scheme, port and path.", "api.example.com"),
  enabled: field(optional(Schema.Boolean), "Whether it is captured; absent: yes.", true),
  label: field(optional(Label), "What you call it.", "Staging"),
  kind: field(optional(Kind), "What its requests are listed as; absent: `custom`.", "llm")
}).annotations(body("AddCustomHost"))
export const EnableHost = Schema.Struct({
  enabled: field(Schema.Boolean, "Whether it is captured.", false)
}).annotations(body("EnableCustomHost"))

const HostAnswer = Schema.Struct({
  ok: field(Schema.Literal(true), "Always true."),
  host: field(CustomHostView, "The host as it is now."),
  warning: field(
    Schema.optionalWith(Schema.String, { exact: true }),
    "Why it is not captured, although it is kept; absent: all is well.",
    "The hosts file /etc/hosts cannot be written (EACCES)."
  )
}).annotations({ identifier: "CustomHostAnswer" })

const action = <const Words extends readonly [string, string]>(words: Words) =>
  Schema.Literal(...words).annotations({
    message: () => ({ message: `must be '${words[0]}' or '${words[1]}'`, override: true })
  })

export const SetHttpProxy = Schema.Struct({
  action: field(action(["start", "stop"]), "What to do.", "stop")
}).annotations(body("SetHttpProxy"))

export const mostGuardMinutes = 10_080
export const SetSystemProxy = Schema.Struct({
  action: field(action(["apply", "revert"]), "What to do.", "revert"),
  guardMinutes: field(
    optional(
      Schema.Int.pipe(
        Schema.between(1, mostGuardMinutes, { message: () => `must be a whole number from 1 to ${mostGuardMinutes}` })
      )
    ),
    "After how many minutes it is taken back by itself; absent: `INSPECTOR_SYSTEM_PROXY_GUARD_MINUTES`.",
    30
  )
}).annotations(body("SetSystemProxy"))

export const SetTlsIntercept = Schema.Struct({
  enabled: field(Schema.Boolean, "Whether HTTPS through the HTTP proxy is decrypted.", false)
}).annotations(body("SetTlsIntercept"))

const Ok = field(Schema.Literal(true), "Always true.")
const ProxyOn = Schema.Struct({
  ok: Ok,
  running: field(Schema.Literal(true), "Always true."),
  port: field(Schema.Number, "Where it listens, on 127.0.0.1.", 8080)
}).annotations({ identifier: "HttpProxyOn" })
const ProxyOff = Schema.Struct({ ok: Ok, running: field(Schema.Literal(false), "Always false.") }).annotations({
  identifier: "HttpProxyOff"
})

const SystemProxyAnswer = Schema.Struct({
  ok: Ok,
  applied: field(Schema.Boolean, "Whether the desktop's proxy setting is ours.", false),
  port: field(Schema.NullOr(Schema.Number), "The port it leads to; null: it is not ours.", null),
  platform: field(Schema.String, "The desktop, or the operating system where no desktop is known.", "gnome"),
  guardUntil: field(
    Schema.NullOr(Schema.String),
    "When it is taken back by itself, ISO 8601; null: it is not ours.",
    exampleTime
  )
}).annotations({ identifier: "SystemProxyAnswer" })

const at = endpointsOf("capture", { host: ["The name of the host.", "api.example.com"] })

export class Capture extends HttpApiGroup.make("capture")
  .annotate(OpenApi.Title, "Capture")
  .annotate(
    OpenApi.Description,
    "Ways by which traffic of other programs of this machine comes into the inspector. What is changed on the machine is taken back when it is switched off, and when the gateway ends, however that happens."
  )
  .add(
    at("hosts", {
      summary: "List custom hosts",
      description: "Hosts whose traffic is sent to the gateway by the hosts file."
    }).addSuccess(
      Schema.Struct({ hosts: field(Schema.Array(CustomHostView), "The hosts.") }).annotations({
        identifier: "CustomHosts"
      })
    )
  )
  .add(
    at("addHost", {
      summary: "Capture a host",
      description:
        "Starts the decrypting server (`MITM_PORT`) and sends the host to it by the hosts file, for IPv4 and IPv6. When that is not possible the host is kept and `warning` says why.",
      example: { host: "api.example.com", enabled: false }
    })
      .setPayload(AddHost)
      .addSuccess(Created(HostAnswer))
      .addError(BadRequestAnswer)
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("enableHost", { summary: "Switch the capture of a host", description: "On or off; the host stays in the list." })
      .setPayload(EnableHost)
      .addSuccess(HostAnswer)
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("removeHost", {
      summary: "Remove a custom host",
      description: "The header `X-DNS-Warning` says so when its line could not be taken out of the hosts file."
    })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("httpProxy", {
      summary: "Start or stop the HTTP proxy",
      description:
        "Programs that use it are captured: `INSPECTOR_HTTP_PROXY_PORT` on 127.0.0.1. Of HTTPS only host, port and time are recorded, unless TLS is intercepted. A start is answered with 201."
    })
      .setPayload(SetHttpProxy)
      .addSuccess(Created(ProxyOn))
      .addSuccess(ProxyOff)
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("systemProxy", {
      summary: "Set the desktop's proxy",
      description:
        "To the HTTP proxy, which has to run; given back as it was after the guard's time. On a desktop where that is not possible, 409 `system_proxy_unsupported` has the lines for a terminal in `hint`."
    })
      .setPayload(SetSystemProxy)
      .addSuccess(SystemProxyAnswer)
      .addError(ConflictAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("tlsIntercept", {
      summary: "Decrypt HTTPS in the HTTP proxy",
      description: "Its clients have to trust the gateway's certificate authority. Kept over restarts."
    })
      .setPayload(SetTlsIntercept)
      .addSuccess(
        Schema.Struct({
          ok: Ok,
          tlsIntercept: field(
            Schema.Struct({ enabled: field(Schema.Boolean, "Whether it is on.", false) }),
            "The new state."
          )
        }).annotations({ identifier: "TlsInterceptAnswer" })
      )
      .addError(UnavailableAnswer)
  ) {}
